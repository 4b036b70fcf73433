"""LSA on the command line."""

import pytest

from semascope import LSA, Corpus, load


@pytest.fixture
def lsa(run, corpus, tmp_path):
    ran = run("fit", corpus, tmp_path / "lsa", "--model", "lsa", "--topics", 2)
    assert ran.next_commands == [f"semascope info {tmp_path / 'lsa'}", f"semascope neighbors {tmp_path / 'lsa'} WORD"]
    assert "2 dimensions after" in ran.out
    assert "the residual converged" in ran.out
    assert "Singular values" in ran.out
    return tmp_path / "lsa"


def test_fit_gives_the_model_that_python_gives(lsa, corpus):
    assert load(lsa).components_.tobytes() == LSA(2, random_state=0).fit(Corpus.open(corpus)).components_.tobytes()


def test_the_weighting_can_be_chosen(run, corpus, tmp_path):
    assert run("fit", corpus, tmp_path / "m", "--model", "lsa", "--topics", 2, "--weighting", "tfidf").code == 0
    assert load(tmp_path / "m").weighting == "tfidf"


def test_neighbors_of_a_word_are_words(run, lsa):
    ran = run("neighbors", lsa, "bank", "-n", 4)
    assert {word for word in ("tax", "loan", "stock", "coin") if word in ran.out} == {"tax", "loan", "stock", "coin"}
    assert ran.next_commands[0].startswith(f"semascope neighbors {lsa} ")
    assert {line["word"] for line in run("neighbors", lsa, "bank", "-n", 4, "--json").json} == {"tax", "loan", "stock", "coin"}


def test_neighbors_of_a_document_are_documents_with_their_titles(run, lsa):
    found = run("neighbors", lsa, "doc1", "-n", 5, "--json").json
    assert all(int(line["document"].removeprefix("doc")) % 2 for line in found)
    assert "cosine" in run("neighbors", lsa, "doc1").out


def test_what_is_neither_is_said(run, lsa, corpus):
    wanted = f"'nowhere' is neither a word of the model nor the id of a document of {corpus}."
    assert run("neighbors", lsa, "nowhere").complaint == wanted


def test_topics_are_not_looked_for_in_lsa(run, lsa, model, tmp_path):
    for command in (["topics", lsa], ["evaluate", lsa], ["edit", lsa, tmp_path / "new", "--remove", "0"]):
        assert "holds LSA, which has no topics" in run(*command).complaint
    assert "neighbors requires LSA" in run("neighbors", model, "bank").complaint


def test_info_shows_dimensions(run, lsa):
    ran = run("info", lsa)
    assert "part explained" in ran.out
    assert ran.next_commands == [f"semascope neighbors {lsa} WORD"]
    (facts,) = run("info", lsa, "--json").json
    assert (facts["model"], facts["dimensions"]) == ("LSA", 2)


def test_options_of_other_models_are_refused(run, corpus, tmp_path):
    assert (
        "--alpha is for --model lda or labeled, not for lsa"
        in run("fit", corpus, tmp_path / "m", "--model", "lsa", "--alpha", 1).err
    )
    assert "--weighting is for --model lsa, not for plsa" in run("fit", corpus, tmp_path / "m", "--weighting", "counts").err


def test_sweep_compares_ranks_by_documents_held_out(run, corpus):
    *trials, suggested = run("sweep", corpus, "--model", "lsa", "--topics", "1,2,4", "--heldout", 0.3, "--json").json
    assert [trial["topics"] for trial in trials] == [1, 2, 4]
    assert trials[1]["perplexity"] < trials[0]["perplexity"]
    assert suggested["suggested_topics"] == 2

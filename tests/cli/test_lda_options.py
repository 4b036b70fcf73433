"""LDA on the command line: word lists, languages, ways to fit."""

import json

import pytest

from semascope import load

PAIRS = [("cat dog horse", "katze hund pferd"), ("tax bank loan", "steuer bank kredit"), ("bird fish cat", "vogel fisch katze")]


@pytest.fixture
def polylingual(run, as_lines, tmp_path):
    records = [{"id": f"d{i}", "texts": {"en": PAIRS[i % 3][0], "de": PAIRS[i % 3][1]}} for i in range(30)]
    (tmp_path / "docs.jsonl").write_text(as_lines(*records))
    assert run("build", tmp_path / "docs.jsonl", tmp_path / "poly", "--languages", "en,de").code == 0
    return tmp_path / "poly"


def test_topics_follow_a_file_of_word_lists_and_carry_its_names(run, corpus, tmp_path):
    (tmp_path / "themes.txt").write_text("pets: cat dog* unicorn\nmoney: tax bank\n")
    done = run("fit", corpus, tmp_path / "guided", "--model", "lda", "--topics", 3, "--prior", tmp_path / "themes.txt")
    assert done.code == 0
    assert "pets" in done.out
    assert done.err == "semascope: prior: 1 of 5 words is not in the vocabulary: unicorn\n"
    model = load(tmp_path / "guided")
    assert model.topic_names_ == ["pets", "money", "topic 2"]
    assert set(model.top_words(3)[1]) <= {"tax", "bank", "loan", "stock", "coin"}
    names = [topic["name"] for topic in run("topics", tmp_path / "guided", "--json").json]
    assert names == model.topic_names_


def test_a_corpus_of_several_languages_gets_topics_side_by_side(run, polylingual, tmp_path):
    done = run("fit", polylingual, tmp_path / "model", "--model", "lda", "--topics", 2, "--alpha", "auto")
    assert done.code == 0
    assert "most probable words en" in done.out
    assert "most probable words de" in done.out
    assert type(load(tmp_path / "model")).__name__ == "PolylingualLDA"
    languages = {entry["language"] for topic in run("topics", tmp_path / "model", "--json").json for entry in topic["words"]}
    assert languages == {"en", "de"}


def test_some_languages_can_be_taken(run, polylingual, tmp_path):
    assert run("fit", polylingual, tmp_path / "german", "--model", "lda", "--topics", 2, "--languages", "de").code == 0
    assert "katze" in load(tmp_path / "german").vocabulary_
    assert "cat" not in load(tmp_path / "german").vocabulary_
    wrong = run("fit", polylingual, tmp_path / "none", "--model", "lda", "--topics", 2, "--languages", "de,it")
    assert wrong.complaint == "there is no language 'it'; the languages are en, de."


def test_each_language_may_have_word_lists_of_its_own(run, polylingual, tmp_path):
    (tmp_path / "en.json").write_text(json.dumps({"pets": ["cat"], "money": ["tax"]}))
    (tmp_path / "de.json").write_text(json.dumps({"money": ["kredit"]}))
    priors = ["--prior", f"en={tmp_path / 'en.json'}", "--prior", f"de={tmp_path / 'de.json'}", "--prior-strength", 5]
    assert run("fit", polylingual, tmp_path / "m", "--model", "lda", "--topics", 2, *priors).code == 0
    model = load(tmp_path / "m")
    assert model.topic_names_ == ["pets", "money"]
    assert model.eta["de"].strength == 5
    assert "kredit" in model.top_words(3, language="de")[1]


def test_texts_of_one_language_are_inferred_by_a_model_of_several(run, polylingual, as_lines, tmp_path):
    assert run("fit", polylingual, tmp_path / "model", "--model", "lda", "--topics", 2).code == 0
    (tmp_path / "new.jsonl").write_text(as_lines({"id": "a", "text": "katze hund"}, {"id": "b", "text": "steuer kredit"}))
    first, second = run("infer", tmp_path / "model", tmp_path / "new.jsonl", "--language", "de", "--json").json
    assert first["topic"] != second["topic"]
    both = run("infer", tmp_path / "model", tmp_path / "docs.jsonl", "--texts", "texts", "--json").json
    assert both[0]["topic"] == first["topic"]
    refused = run("infer", tmp_path / "model", tmp_path / "new.jsonl")
    assert refused.code == 2
    assert "--language" in refused.err
    assert run("infer", tmp_path / "model", tmp_path / "new.jsonl", "--language", "it").code == 2


def test_counterparts_are_found_in_another_language(run, polylingual, tmp_path):
    assert run("fit", polylingual, tmp_path / "model", "--model", "lda", "--topics", 2).code == 0
    arguments = ("counterparts", tmp_path / "model", polylingual, "--from", "en", "--to", "de")
    found = run(*arguments, "--top", 5, "--json").json
    assert len(found) == 30 * 5
    assert {line["counterpart_id"] for line in found if line["id"] == "d1"} <= {f"d{i}" for i in range(1, 30, 3)}
    assert "d0" in run(*arguments).out
    assert run(*arguments[:-1], "it").complaint == "there is no language 'it'; the languages are en, de."


def test_counterparts_need_a_model_of_several_languages(run, model, corpus):
    refused = run("counterparts", model, corpus, "--from", "en", "--to", "de")
    assert refused.code == 2
    assert "topics in one language only" in refused.err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--prior-strength", "5"], "--prior-strength requires --prior"),
        (["--prior", "no-such-file.txt"], "no-such-file.txt"),
        (["--prior", "a.txt", "--prior", "b.txt"], "--prior takes one file, or one per language"),
        (["--prior", "a.txt", "--eta", "auto"], "--eta auto cannot be combined with --prior"),
        (["--alpha", "0"], 'alpha must be "auto" or a number above 0'),
        (["--alpha", "-1"], 'alpha must be "auto" or a number above 0'),
        (["--eta", "none"], '--eta takes "auto" or a number'),
        (["--languages", ","], "--languages takes comma-separated codes"),
        (["--languages", "de"], "there is no language 'de'"),
    ],
)
def test_what_makes_no_sense_is_refused(run, corpus, tmp_path, options, sentence):
    refused = run("fit", corpus, tmp_path / "m", "--model", "lda", "--topics", 2, *options)
    assert refused.code != 0
    assert sentence in " ".join(refused.err.split())
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("categories", "sentence"),
    [
        ("pets: cat\nmoney: unicorn", "no word of category 'money' is in the vocabulary: unicorn."),
        ("pets: cat\nmoney: tax\nfood: fish", "3 categories need as many topics, but n_components is 2."),
    ],
)
def test_what_is_wrong_with_a_prior_names_its_file(run, corpus, tmp_path, categories, sentence):
    path = tmp_path / "themes.txt"
    path.write_text(categories)
    refused = run("fit", corpus, tmp_path / "m", "--model", "lda", "--topics", 2, "--prior", path)
    assert refused.complaint == f"LDA: {path}: {sentence}"


def test_options_of_lda_are_not_for_plsa(run, corpus, tmp_path):
    refused = run("fit", corpus, tmp_path / "m", "--model", "plsa", "--topics", 2, "--prior", "themes.txt")
    assert "--prior is for --model lda, not for plsa" in refused.err


def test_the_e_step_of_variational_em_has_options(run, corpus, tmp_path):
    vb = ["--model", "lda", "--topics", 2, "--inference", "vb"]
    ran = run("fit", corpus, tmp_path / "vb", *vb, "--max-doc-update-iter", 7, "--doc-tol", 0.01)
    assert "passes of CVB0 and" in ran.out
    model = load(tmp_path / "vb")
    assert (model.max_doc_update_iter, model.doc_tol) == (7, 0.01)
    refused = run("fit", corpus, tmp_path / "cvb0", "--model", "lda", "--doc-tol", 0.01)
    assert refused.code == 2
    assert "--doc-tol applies to the E-step of --inference vb only." in refused.err


def test_info_shows_the_bound_and_the_priors(run, corpus, tmp_path):
    vb = ["--model", "lda", "--topics", 2, "--inference", "vb"]
    run("fit", corpus, tmp_path / "vb", *vb, "--alpha", "0.1,0.2", "--eta", "auto")
    (facts,) = run("info", tmp_path / "vb", "--json").json
    model = load(tmp_path / "vb")
    assert (facts["elbo"], facts["alpha"], facts["eta"]) == (model.elbo_[-1], [0.1, 0.2], model.eta_)
    shown = [" ".join(line.split()) for line in run("info", tmp_path / "vb").out.splitlines()]
    assert {f"elbo {model.elbo_[-1]:,.4g}", "alpha 0.1, 0.2", f"eta {model.eta_:.4g}"} <= set(shown)


def test_a_fit_with_learned_priors_tells_what_its_passes_were_for(run, corpus, tmp_path):
    ran = run("fit", corpus, tmp_path / "lda", "--model", "lda", "--topics", 2, "--alpha", "auto")
    assert "passes to learn the priors and" in ran.out

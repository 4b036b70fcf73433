"""Labels on the command line: fit, look at them, predict them, and tell which words are due to them."""

import io

import pytest

from semascope import Corpus, LabeledLDA, OnlineLabeledLDA, load


@pytest.fixture
def labeled(run, corpus, tmp_path):
    ran = run("fit", corpus, tmp_path / "labeled", "--model", "labeled", "--max-iter", 20, "--background", 1)
    assert "3 labels after 20 iterations" in ran.out
    assert ran.next_commands == [
        f"semascope topics {tmp_path / 'labeled'}",
        f"semascope predict {tmp_path / 'labeled'} SOURCE",
    ]
    return tmp_path / "labeled"


def test_fit_gives_the_model_that_python_gives(labeled, corpus):
    model = LabeledLDA(background=1, max_iter=20, random_state=0).fit(Corpus.open(corpus))
    assert load(labeled).label_words_.counts.tobytes() == model.label_words_.counts.tobytes()


def test_topics_are_labels_with_their_words(run, labeled):
    ran = run("topics", labeled)
    assert "animals" in ran.out
    assert "background 1" in ran.out
    lines = {line["label"]: line for line in run("topics", labeled, "--words", 3, "--json").json}
    assert lines["animals"]["documents"] == 30
    assert len(lines["money"]["words"]) == 3
    assert lines["background 1"]["documents"] is None


def test_info_tells_labels(run, labeled, tmp_path):
    assert run("info", labeled, "--json").json[0]["label_names"] == ["animals", "money"]
    assert "background" in run("info", labeled).out
    OnlineLabeledLDA(random_state=0).partial_fit(["cats purr", "nothing"], [["cat"], []]).save(tmp_path / "online")
    facts = run("info", tmp_path / "online", "--json").json[0]
    assert (facts["documents_seen"], facts["documents_learned"], facts["labels"]) == (2, 1, 1)
    assert facts["settings"]["analyzer"]["min_length"] == 2


def test_predict_names_the_labels_of_documents(run, labeled, tmp_path, as_lines):
    source = tmp_path / "new.jsonl"
    source.write_text(as_lines({"id": "x", "text": "tax bank loan"}, {"id": "y", "text": "cat dog"}, {"text": "unheard"}))
    found = run("predict", labeled, source, "--json")
    assert [line["labels"] for line in found.json] == [["money"], ["animals"], []]
    assert 0.5 < found.json[0]["probabilities"]["money"] <= 1
    assert "in 1 document" in found.err
    shown = run("predict", labeled, source, "--limit", 1)
    assert "money" in shown.out
    assert "and 2 more documents" in shown.out


def test_attribute_tells_what_each_word_is_due_to(run, labeled, monkeypatch):
    words = run("attribute", labeled, "The bank, the cat!", "--label", "money", "--label", "animals", "--json").json[0]["words"]
    assert [(word["word"], word["label"]) for word in words if word["label"]] == [("bank", "money"), ("cat", "animals")]
    assert "bank" in run("attribute", labeled, "a bank").out
    assert run("attribute", labeled, "x y z a bank b c", "--passage", "money", "--words", 1).out.strip() == "… bank …"
    monkeypatch.setattr("sys.stdin", io.StringIO("a coin"))
    assert "coin" in run("attribute", labeled, "-").out


@pytest.mark.parametrize("text", ["-", "caf\udce9, a coin"])
def test_bytes_that_are_not_utf_8_do_not_keep_words_from_being_found(run, labeled, monkeypatch, text):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9, a coin"), encoding="utf-8"))
    words = run("attribute", labeled, text, "--label", "money", "--json").json[0]["words"]
    assert [word["word"] for word in words if word["label"]] == ["coin"]


def test_evaluate_judges_with_labels(run, labeled):
    ran = run("evaluate", labeled)
    assert "LabeledLDA of 3 labels" in ran.out
    assert run("evaluate", labeled, "--json").json[0]["perplexity"] < 8


def test_what_cannot_be_done_is_said_in_a_sentence(run, labeled, model, corpus, source, tmp_path):
    assert (
        "does not know the label 'mony'; did you mean 'money'?" in run("attribute", labeled, "a", "--label", "mony").complaint
    )
    assert "holds PLSA, which has no labels" in run("predict", model, source).complaint
    assert "holds PLSA, which has no labels" in run("attribute", model, "a").complaint
    assert "whose topics are labels" in run("infer", labeled, source).complaint
    assert "whose topics are labels" in run("edit", labeled, tmp_path / "new", "--remove", "0").complaint
    assert run("attribute", labeled, "unheard").code == 1
    assert "--topics is for" in run("fit", corpus, tmp_path / "m", "--model", "labeled", "--topics", 3).err
    assert "--background is for --model labeled" in run("fit", corpus, tmp_path / "m", "--background", 1).err
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    assert run("predict", labeled, empty).code == 1
    bare = tmp_path / "bare.jsonl"
    bare.write_text('{"text": "no label here"}\n{"text": "nor any here"}\n')
    assert run("build", bare, tmp_path / "bare").code == 0
    assert "no document has a label" in run("fit", tmp_path / "bare", tmp_path / "m", "--model", "labeled").complaint

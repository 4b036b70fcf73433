"""What a model says of a text is the same in Python, on the command line and in the explorer."""

import ast
import json
import random
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import semascope as ss
from semascope.cli.main import main
from semascope.explorer.queries.document_topics import DocumentShares
from semascope.explorer.queries.text_topics import infer_text
from semascope.explorer.service.snapshot import Snapshot
from semascope.inference.labels import fold_in_words

SUBJECTS = {"animals": "cat dog horse bird fish", "money": "tax bank loan stock coin", "sky": "star moon sun comet bird"}
TEXT = "A cat at the bank saw the moon, the moon and a star; Birds? fish, tax and tax."


def documents(n=90):
    """Documents on one subject or two, with their labels."""
    chance = random.Random(1)
    for _ in range(n):
        labels = chance.sample(sorted(SUBJECTS), chance.choice([1, 1, 2]))
        words = " ".join(SUBJECTS[label] for label in labels).split()
        yield " ".join(chance.choices(words, k=12)), labels


TEXTS, LABELS = zip(*documents(), strict=True)


def fit_online():
    model = ss.OnlineLabeledLDA(random_state=0)
    for text, labels in zip(TEXTS[:40], LABELS, strict=False):
        model.partial_fit(text, labels)
    return model


TOPIC_MODELS = {
    "cvb0": lambda: ss.LDA(7, alpha=0.05, random_state=0, max_iter=20),
    "vb": lambda: ss.LDA(7, inference="vb", random_state=0, max_iter=10),
    "plsa": lambda: ss.PLSA(7, random_state=0, max_iter=10),
    "tempered": lambda: ss.PLSA(4, tempering=0.8, random_state=0, max_iter=10),
}
LABEL_MODELS = {
    "labels": lambda: ss.LabeledLDA(random_state=0, max_iter=20).fit(TEXTS, LABELS),
    "background": lambda: ss.LabeledLDA(random_state=0, max_iter=20, background=2).fit(TEXTS, LABELS),
    "one label": lambda: ss.LabeledLDA(random_state=0, max_iter=20).fit(TEXTS, [labels[0] for labels in LABELS]),
    "stream": fit_online,
}


def printed(monkeypatch, capsys, *arguments):
    """What a command prints as JSON."""
    monkeypatch.setattr("sys.argv", ["semascope", *map(str, arguments), "--json"])
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main()
    out, complaint = capsys.readouterr()
    assert not ended.value.code, complaint
    return json.loads(out)


@pytest.mark.parametrize("kind", TOPIC_MODELS)
def test_words_have_one_topic_wherever_it_is_asked_for(kind, tmp_path, monkeypatch, capsys):
    model = TOPIC_MODELS[kind]().fit(TEXTS)
    model.save(tmp_path / "model")
    (tmp_path / "text.jsonl").write_text(json.dumps({"id": "x", "text": TEXT}) + "\n")
    table = model.word_topics([TEXT])
    expected = {word: (topic, weight) for word, topic, weight in table.select("word", "topic", "weight").iter_rows()}
    assert len(expected) > 5

    on_page = infer_text(Snapshot.of(model, None), TEXT, None)
    assert {word.word.lower(): (word.topic, word.weight) for word in on_page.words} == expected
    theta = model.transform([TEXT])[0]
    assert all(topic.share == theta[topic.topic] for topic in on_page.topics)

    found = printed(monkeypatch, capsys, "infer", tmp_path / "model", tmp_path / "text.jsonl", "--words")
    assert_allclose(found["topics"], theta, atol=5.1e-7)
    assert {word["word"]: word["topic"] for word in found["words"]} == {word: topic for word, (topic, _) in expected.items()}
    assert_allclose([word["weight"] for word in found["words"]], table["weight"], atol=5.1e-7)


@pytest.mark.parametrize("kind", LABEL_MODELS)
def test_words_have_one_label_wherever_it_is_asked_for(kind, tmp_path, monkeypatch, capsys):
    model = LABEL_MODELS[kind]()
    model.save(tmp_path / "model")
    expected = [word for word in model.attribute(TEXT) if word.label]
    assert len(expected) > 5

    explored = Snapshot.of(model, None)
    on_page, names = infer_text(explored, TEXT, None), model.topic_names_
    assert [(word.start, word.end, names[word.topic], word.weight) for word in on_page.words] == [
        (word.start, word.end, word.label, word.weight) for word in expected
    ]
    theta = model.transform([TEXT])[0]
    assert all(topic.share == theta[topic.topic] for topic in on_page.topics)
    assert [label.label for label in on_page.labels if label.predicted] == model.predicted_labels([TEXT])[0]

    found = printed(monkeypatch, capsys, "attribute", tmp_path / "model", TEXT)["words"]
    assert [(word["word"], word["label"]) for word in found if word["label"]] == [(word.word, word.label) for word in expected]
    assert_allclose([word["weight"] for word in found if word["label"]], [word.weight for word in expected], atol=5.1e-7)


@pytest.mark.parametrize("kind", LABEL_MODELS)
def test_documents_have_the_shares_of_labels_of_their_texts(kind):
    model = LABEL_MODELS[kind]()
    corpus = ss.Corpus.from_texts(TEXTS[:10], labels=LABELS[:10], analyzer=model.analyzer_)
    shares = DocumentShares.of(model, corpus)
    numbers = {name: number for number, name in enumerate(model.topic_names_)}
    vocabulary = {word: number for number, word in enumerate(model.vocabulary_)}
    for document, (text, labels) in enumerate(zip(TEXTS[:10], LABELS, strict=False)):
        own = sorted({numbers[label] for label in labels if label in numbers} | {*range(len(model.label_names_), len(numbers))})
        words = np.array([vocabulary[word] for word in text.split() if word in vocabulary], np.int32)
        expected = np.zeros(len(numbers))
        expected[own] = fold_in_words(words, np.array(own, np.int32), model.alpha, model.label_words_)
        assert_array_equal(shares.row(document), expected)


def test_documents_are_folded_in_in_one_room_only():
    root, elsewhere = Path(ss.__file__).parent, []
    for path in sorted(root.rglob("*.py")):
        names = {
            alias.name
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("semascope.kernels")
            for alias in node.names
        }
        if names & {"fold_in", "fold_labels", "look_up"} and path.relative_to(root).parts[0] not in ("inference", "kernels"):
            elsewhere.append(str(path.relative_to(root)))
    assert not elsewhere

"""semascope edit, and where the names that it gives are shown."""

import shlex

import numpy as np
import pytest

from semascope import InformedPrior, load


@pytest.fixture
def model(run, corpus, tmp_path):
    assert run("fit", corpus, tmp_path / "model", "--topics", 4, "--model", "lda").code == 0
    return tmp_path / "model"


@pytest.fixture
def files_of():
    """What a directory holds, byte for byte."""
    return lambda directory: {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_topics_are_renamed_where_they_are(run, model):
    ran = run("edit", model, "--rename", "3=space", "--rename", "topic 1=God and faith")
    assert ran.code == 0, ran.err
    assert "space" in ran.out
    assert f"{model}: 4 topics." in ran.out
    assert ran.next_commands[0] == f"semascope topics {model}"
    assert load(model).topic_names_ == ["topic 0", "God and faith", "topic 2", "space"]
    assert run("edit", model, "--rename", "God and faith=", "--rename", "space=moon").code == 0
    assert load(model).topic_names_ == ["topic 0", "topic 1", "topic 2", "moon"]


def test_all_changes_go_by_the_numbers_of_the_model(run, model, tmp_path, files_of):
    before = files_of(model)
    ran = run("edit", model, tmp_path / "new", "--merge", "2,0=both", "--remove", "1", "--rename", "3=last")
    assert ran.code == 0, ran.err
    assert load(tmp_path / "new").topic_names_ == ["both", "last"]
    np.testing.assert_allclose(load(tmp_path / "new").doc_topics_.sum(axis=1), 1, rtol=1e-5)
    assert files_of(model) == before


def test_topics_are_lost_only_on_demand(run, model, tmp_path, files_of):
    before = files_of(model)
    for arguments in ([model], [model, model], [model, f"{model}/../model"]):
        complaint = run("edit", *arguments, "--remove", "1,2").complaint
        assert "merging and removing lose topics; write to another path, or edit this model with --overwrite" in complaint
    run("edit", model, tmp_path / "other", "--rename", "0=x")
    assert "--overwrite" in run("edit", model, tmp_path / "other", "--rename", "0=y").complaint
    assert files_of(model) == before
    assert run("edit", model, "--remove", "1,2", "--overwrite").code == 0
    assert len(load(model).components_) == 2


def test_what_edit_suggests_works(run, model, source):
    for command in run("edit", model, "--rename", "0=x").next_commands:
        assert run(*shlex.split(command.replace("SOURCE", str(source)))[1:]).code == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--rename", "4=x"], "there is no topic 4; they are numbered from 0 to 3."),
        (["--rename", "99999999999999999999=x"], "there is no topic '99999999999999999999'; there are 'topic 0',"),
        (["--rename", "spcae=x"], "there is no topic 'spcae'; there are 'topic 0', 'topic 1', 'topic 2', 'topic 3'."),
        (["--rename", "0=x", "--rename", "1=x"], "two topics would be named 'x'."),
        (["--rename", "0=topic 2"], "'topic 2' is the default name of an unnamed topic; choose another name."),
        (["--rename", "0=\udcff"], "a topic's name must be a single line of printable characters, but was '\\udcff'."),
        (["--merge", "1,1"], "topic 1 is named twice."),
        (["--merge", "1"], "to merge takes two topics at least, not 1."),
        (["--merge", "1,"], "there is no topic '';"),
        (["--merge", "0,1", "--remove", "1"], "topic 1 cannot be merged or removed twice."),
        (["--remove", "0,1,2,3"], "to remove all topics would leave none."),
        (["--remove", "1", "--rename", "1=x"], "topic 1 cannot be renamed and removed."),
    ],
)
def test_what_cannot_be_done_is_answered_and_nothing_is_written(run, model, tmp_path, files_of, options, sentence):
    before = files_of(tmp_path)
    assert run("edit", model, tmp_path / "new", *options).complaint.startswith(sentence)
    assert files_of(tmp_path) == before


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "nothing to change; use --rename, --merge or --remove."),
        (["--rename", "space"], "--rename takes TOPIC=NAME, e.g. 3=space, not 'space'."),
        (["--rename", "1=x", "--rename", "1=y"], "--rename names a topic twice."),
    ],
)
def test_options_that_say_too_little_are_answered(run, model, options, sentence):
    ran = run("edit", model, *options)
    assert ran.code == 2
    assert sentence in " ".join(ran.err.replace("│", " ").split())


def test_only_models_are_edited_and_nothing_else_is_overwritten(run, corpus, model, source, tmp_path, files_of):
    before = files_of(tmp_path)
    assert "found a semascope corpus" in run("edit", corpus, "--rename", "0=x").complaint
    assert "no such directory" in run("edit", tmp_path / "nowhere", "--rename", "0=x").complaint
    for target in (corpus, source):
        assert "will not write" in run("edit", model, target, "--rename", "0=x", "--overwrite").complaint
    assert files_of(tmp_path) == before


# --- where names are shown -----------------------------------------------------------------------------------------------


@pytest.fixture
def named(run, model):
    assert run("edit", model, "--rename", "0=God [bold] & faith", "--rename", "2=money").code == 0
    return model


def test_tables_have_a_column_for_names_where_there_are_any(run, named, corpus, tmp_path):
    header, *rows = run("topics", named).out.splitlines()[:5]
    assert header.split()[:3] == ["topic", "name", "share"]
    assert sum("God [bold] & faith" in row for row in rows) == 1
    assert sum(row.split()[1:3] == ["topic", "3"] for row in rows) == 1
    assert " name " not in run("fit", corpus, tmp_path / "unnamed", "--topics", 2).out


def test_programs_are_told_the_names(run, named, source):
    assert [topic["name"] for topic in run("topics", named, "--json").json] == load(named).topic_names_
    (facts,) = run("info", named, "--json").json
    assert facts["topic_names"] == ["God [bold] & faith", "topic 1", "money", "topic 3"]
    for line in run("infer", named, source, "--json").json:
        assert line["topic"] == int(np.argmax(line["topics"]))
        assert line["name"] == facts["topic_names"][line["topic"]]


def test_infer_and_info_show_names(run, named, source):
    assert " money " in run("info", named).out
    out = run("infer", named, source, "--top", 4).out
    assert "%  money: " in out
    assert "%  God [bold] & faith: " in out
    assert "topic 2" not in out


def test_infer_tells_the_topic_of_each_word(run, named, as_lines, tmp_path):
    new = tmp_path / "new.jsonl"
    new.write_text(as_lines({"id": "a", "text": "cat cat tax zebra"}, {"id": "b", "text": ""}))
    first, second = run("infer", named, new, "--words", "--json").json
    assert [(entry["word"], entry["count"]) for entry in first["words"]] in (
        [("cat", 2.0), ("tax", 1.0)],
        [("tax", 1.0), ("cat", 2.0)],
    )
    assert all(0 <= entry["topic"] < 4 and 0.25 <= entry["weight"] <= 1 for entry in first["words"])
    assert second["words"] == []
    assert "words" not in run("infer", named, new, "--json").json[0]
    out = run("infer", named, new, "--words").out
    assert "the words assigned to them" in out
    shown = next(line for line in out.splitlines() if " a " in line)
    assert "cat" in shown
    assert "dog" not in out


def test_info_shows_priors_among_the_settings(run, model):
    fitted = load(model)
    prior = InformedPrior({"pets": ["cat", "do*"]})
    fitted.set_params(eta=prior).save(model)
    assert repr(prior) in run("info", model).out
    (facts,) = run("info", model, "--json").json
    assert facts["settings"]["eta"] == {"InformedPrior": prior.to_dict()}
    load(model).set_params(eta=np.ones((4, 10))).save(model)
    assert "eta=array of shape (4, 10)" in run("info", model).out
    assert run("info", model, "--json").json[0]["settings"]["eta"] == "array of shape (4, 10)"

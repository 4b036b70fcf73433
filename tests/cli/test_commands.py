"""The commands from end to end: what they do, what they print, and what they say to do next."""

import gzip
import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import press_ctrl_c
from semascope import PLSA, Checkpoints, Corpus, __version__, load
from semascope.cli.main import COMMANDS
from semascope.workflow import checkpoint_of

HEAVY = ["numpy", "scipy", "numba", "polars", "pyarrow", "sklearn"]

WHAT_HELP_IMPORTS = f"""
import sys
from semascope.cli.main import main
sys.argv = ["semascope", "--help"]
try:
    main()
finally:
    sys.stderr.write(" ".join(name for name in {HEAVY} if name in sys.modules))
"""


def arrays_of(directory: Path) -> dict[str, bytes]:
    """The array files of a model or a corpus, byte for byte."""
    (data,) = directory.glob("data-*")
    return {path.name: path.read_bytes() for path in data.glob("*.npy")}


def everything_in(directory: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def leave_unfinished(corpus: Path, target: Path, **settings: Any) -> None:
    """Leave the checkpoint of a run that was killed in its fifth iteration."""
    checkpoints = Checkpoints(checkpoint_of(target), seconds=0)
    PLSA(2, **{"random_state": 0, "max_iter": 4, **settings}).fit(Corpus.open(corpus), checkpoints=checkpoints)


def test_version_is_printed(run):
    assert run("--version").out == f"semascope {__version__}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["-h"]])
def test_help_names_every_command(run, arguments):
    ran = run(*arguments)
    assert ran.code == 0
    assert all(f" {command} " in ran.out for command in COMMANDS)


def test_no_arguments_show_the_help(run):
    ran = run()
    assert all(f" {command} " in ran.out + ran.err for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(run, command):
    ran = run(command, "--help")
    assert ran.code == 0
    assert f"semascope {command}" in ran.out


def test_help_comes_at_once_because_nothing_heavy_is_imported():
    ran = subprocess.run([sys.executable, "-c", WHAT_HELP_IMPORTS], capture_output=True, text=True, timeout=20, check=True)
    assert "build" in ran.stdout
    assert ran.stderr == ""


# --- build -----------------------------------------------------------------------------------------------------------------


def test_build_says_what_it_built_and_what_to_do_next(run, source, tmp_path):
    ran = run("build", source, tmp_path / "corpus")
    assert f"{tmp_path / 'corpus'}: 60 documents, 10 words, 1,200 tokens." in ran.out
    assert f"semascope info {tmp_path / 'corpus'}" in ran.next_commands
    assert ran.err == ""


def test_build_keeps_ids_texts_labels_and_the_fields_asked_for(run, source, tmp_path):
    run("build", source, tmp_path / "corpus", "--keep", "author")
    documents = Corpus.open(tmp_path / "corpus").documents
    assert documents.columns == ["id", "text", "labels", "author"]
    first = json.loads(source.read_text().splitlines()[0])
    assert documents.row(0, named=True) == {name: first[name] for name in documents.columns}


def test_build_says_when_no_document_has_a_field_that_was_asked_for(run, source, tmp_path):
    ran = run("build", source, tmp_path / "corpus", "--keep", "author,auhtor,date")
    assert ran.code == 0
    assert ran.err == "--keep: no document has the field 'auhtor'.\n"


def test_build_reads_fields_under_other_names(run, as_lines, tmp_path):
    source = tmp_path / "other.jsonl"
    source.write_text(as_lines({"number": 7, "body": "some words", "topic": ["x", "y"]}))
    run("build", source, tmp_path / "corpus", "--text", "body", "--id", "number", "--labels", "topic")
    (document,) = Corpus.open(tmp_path / "corpus").documents.to_dicts()
    assert document == {"id": "7", "text": "some words", "labels": ["x", "y"]}


def test_build_reads_gzip_as_it_reads_plain_text(run, source, corpus, tmp_path):
    zipped = tmp_path / "source.gz"
    zipped.write_bytes(gzip.compress(source.read_bytes()))
    run("build", zipped, tmp_path / "from-gzip")
    assert arrays_of(tmp_path / "from-gzip") == arrays_of(corpus)


def test_the_options_of_build_reach_the_analyzer(run, source, tmp_path):
    options = "--no-lowercase --min-length 3 --stemmer english --min-df 2 --max-df 0.9 --max-features 8 --stop-words english"
    options += " --ngrams 1,2"
    assert run("build", source, tmp_path / "corpus", *options.split()).code == 0
    (facts,) = run("info", tmp_path / "corpus", "--json").json
    assert facts["words"] == 8
    assert facts["analyzer"] == {
        "lowercase": False,
        "token_pattern": None,
        "min_length": 3,
        "stop_words": "english",
        "stemmer": "english",
        "ngrams": [1, 2],
        "min_df": 2,
        "max_df": 0.9,
        "max_features": 8,
    }


def test_build_leaves_out_the_stop_words_of_a_file(run, source, tmp_path):
    (tmp_path / "stop.txt").write_text("cat\ndog\n")
    run("build", source, tmp_path / "corpus", "--stop-words", tmp_path / "stop.txt")
    words = set(Corpus.open(tmp_path / "corpus").vocabulary)
    assert len(words) == 8
    assert not words & {"cat", "dog"}


def test_build_leaves_out_the_stop_words_of_a_language(run, as_lines, tmp_path):
    (tmp_path / "source.jsonl").write_text(as_lines({"text": "der Hund und die Katze"}))
    assert run("build", tmp_path / "source.jsonl", tmp_path / "corpus", "--stop-words", "german").code == 0
    assert set(Corpus.open(tmp_path / "corpus").vocabulary) == {"hund", "katze"}
    complaint = run("build", tmp_path / "source.jsonl", tmp_path / "other", "--stop-words", "nepali").complaint
    assert complaint.startswith(
        "nepali: neither a file of stop words nor a language with built-in stop words (arabic, catalan,"
    )


def test_build_overwrites_only_when_it_is_told_to(run, source, corpus):
    before = everything_in(corpus)
    assert "--overwrite" in run("build", source, corpus).complaint
    assert everything_in(corpus) == before
    assert run("build", source, corpus, "--max-features", 4, "--overwrite").code == 0
    assert Corpus.open(corpus).n_words == 4


def test_build_writes_into_an_empty_directory(run, source, tmp_path):
    (tmp_path / "corpus").mkdir()
    assert run("build", source, tmp_path / "corpus").code == 0


# --- fit -------------------------------------------------------------------------------------------------------------------


def test_fit_shows_the_topics_and_says_what_to_do_next(run, corpus, tmp_path):
    ran = run("fit", corpus, tmp_path / "model", "--topics", 2)
    assert f"{tmp_path / 'model'}: 2 topics after " in ran.out
    assert "converged" in ran.out
    assert ran.next_commands[0] == f"semascope topics {tmp_path / 'model'}"
    assert ran.err == ""


def test_fit_says_when_it_used_up_its_iterations(run, corpus, tmp_path):
    ran = run("fit", corpus, tmp_path / "model", "--topics", 2, "--max-iter", 3)
    assert "after 3 iterations: the maximum number of iterations was reached" in ran.out


def test_fit_tells_two_subjects_apart(model):
    subjects = load(model).doc_topics_.argmax(axis=1)
    assert (subjects == np.where(np.arange(60) % 2, subjects[1], subjects[0])).all()
    assert subjects[0] != subjects[1]


def test_a_finished_fit_leaves_no_checkpoint(model):
    assert not checkpoint_of(model).exists()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_same_seed_gives_the_same_arrays_on_any_number_of_threads(run, corpus, model, tmp_path, threads):
    run("fit", corpus, tmp_path / "again", "--topics", 2, "--seed", 0, "--threads", threads)
    assert arrays_of(tmp_path / "again") == arrays_of(model)


def test_another_seed_gives_another_start(run, corpus, tmp_path):
    for seed in (1, 2):
        run("fit", corpus, tmp_path / f"seed{seed}", "--topics", 2, "--max-iter", 1, "--seed", seed)
    assert arrays_of(tmp_path / "seed1") != arrays_of(tmp_path / "seed2")


def test_fit_overwrites_only_when_it_is_told_to(run, corpus, model):
    before = everything_in(model)
    assert "--overwrite" in run("fit", corpus, model, "--topics", 3).complaint
    assert everything_in(model) == before
    assert run("fit", corpus, model, "--topics", 3, "--overwrite").code == 0
    assert load(model).components_.shape[0] == 3


def test_fit_writes_into_the_directory_it_is_run_in(run, corpus, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert run("fit", corpus, ".", "--topics", 2).code == 0
    assert run("topics", ".").code == 0


def test_a_corpus_that_was_built_again_can_be_fitted_again(run, source, corpus, model):
    assert run("build", source, corpus, "--overwrite").code == 0
    assert run("fit", corpus, model, "--topics", 2, "--overwrite").code == 0


# --- fit --resume ----------------------------------------------------------------------------------------------------------


def test_resuming_needs_an_unfinished_run(run, corpus, model, tmp_path):
    for target in (model, tmp_path / "nothing"):
        assert "no unfinished run" in run("fit", corpus, target, "--topics", 2, "--resume").complaint


def test_an_unfinished_run_is_resumed_or_overwritten_only_on_demand(run, corpus, tmp_path):
    leave_unfinished(corpus, tmp_path / "model")
    before = everything_in(tmp_path)
    complaint = run("fit", corpus, tmp_path / "model", "--topics", 2).complaint
    assert "--resume" in complaint
    assert "--overwrite" in complaint
    assert everything_in(tmp_path) == before


def test_a_resumed_run_gives_the_same_arrays_as_one_that_was_not_cut_off(run, corpus, model, tmp_path):
    leave_unfinished(corpus, tmp_path / "resumed")
    assert run("fit", corpus, tmp_path / "resumed", "--topics", 2, "--resume").code == 0
    assert arrays_of(tmp_path / "resumed") == arrays_of(model)
    assert not checkpoint_of(tmp_path / "resumed").exists()


def test_resuming_from_a_checkpoint_that_was_never_finished_says_what_to_do(run, corpus, tmp_path):
    (checkpoint_of(tmp_path / "model") / "data-0123456789ab").mkdir(parents=True)  # killed while the first one was written
    assert "omit --resume to start one" in run("fit", corpus, tmp_path / "model", "--topics", 2, "--resume").complaint
    assert run("fit", corpus, tmp_path / "model", "--topics", 2).code == 0


def test_overwriting_an_unfinished_run_starts_anew(run, corpus, model, tmp_path):
    leave_unfinished(corpus, tmp_path / "anew", random_state=5)
    assert run("fit", corpus, tmp_path / "anew", "--topics", 2, "--overwrite").code == 0
    assert arrays_of(tmp_path / "anew") == arrays_of(model)
    assert not checkpoint_of(tmp_path / "anew").exists()


@pytest.mark.parametrize("other", [["--topics", 3], ["--topics", 2, "--seed", 1]])
def test_resuming_with_other_settings_is_refused_and_the_checkpoint_kept(run, corpus, tmp_path, other):
    leave_unfinished(corpus, tmp_path / "model")
    before = everything_in(tmp_path)
    assert "cannot resume" in run("fit", corpus, tmp_path / "model", *other, "--resume").complaint
    assert everything_in(tmp_path) == before


def test_resuming_with_another_corpus_is_refused(run, source, corpus, tmp_path):
    leave_unfinished(corpus, tmp_path / "model")
    run("build", source, tmp_path / "other", "--max-features", 9)
    assert "cannot resume" in run("fit", tmp_path / "other", tmp_path / "model", "--topics", 2, "--resume").complaint


def test_info_says_how_to_finish_the_run_of_a_checkpoint(run, corpus, tmp_path):
    leave_unfinished(corpus, tmp_path / "model")
    assert "--resume" in run("info", checkpoint_of(tmp_path / "model")).complaint


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------------


def test_ctrl_c_keeps_the_model_so_far(run, corpus, tmp_path, monkeypatch):
    press_ctrl_c(monkeypatch, iteration=3)
    ran = run("fit", corpus, tmp_path / "model", "--topics", 2)
    assert ran.code == 130
    assert "interrupted after 3 iterations" in ran.out
    assert load(tmp_path / "model").n_iter_ == 3


def test_what_fit_suggests_after_ctrl_c_leads_to_the_same_end(run, corpus, tmp_path, monkeypatch):
    settings = ["--topics", 2, "--max-iter", 150, "--tol", 1e-9, "--seed", 3]
    run("fit", corpus, tmp_path / "whole", *settings)
    press_ctrl_c(monkeypatch, iteration=3)
    ran = run("fit", corpus, tmp_path / "model", *settings)
    assert run(*shlex.split(ran.next_commands[0])[1:]).code == 0
    assert arrays_of(tmp_path / "model") == arrays_of(tmp_path / "whole")


def test_ctrl_c_outside_a_fit_is_answered_with_one_sentence(run, source, tmp_path, monkeypatch):
    monkeypatch.setattr("semascope.corpus.readers.sources.read", lambda *a, **k: signal.raise_signal(signal.SIGINT))
    ran = run("build", source, tmp_path / "corpus")
    assert ran.code == 130
    assert ran.complaint == "interrupted."


# --- topics ----------------------------------------------------------------------------------------------------------------


def test_topics_shows_the_words_of_each_topic_and_says_what_to_do_next(run, model):
    ran = run("topics", model, "--words", 3)
    words = [word for topic in load(model).top_words(3) for word in topic]
    assert all(word in ran.out for word in words)
    assert "50.0%" in ran.out
    assert f"semascope info {model}" in ran.next_commands


def test_topics_gives_json_to_programs(run, model):
    topics = run("topics", model, "--json").json
    assert [topic["topic"] for topic in topics] == [0, 1]
    assert sum(topic["share"] for topic in topics) == pytest.approx(1)
    for topic in topics:
        probabilities = [entry["probability"] for entry in topic["words"]]
        assert probabilities == sorted(probabilities, reverse=True)
        assert sum(probabilities) == pytest.approx(1, abs=1e-5)


def test_a_reader_that_has_gone_is_no_error(run, model, monkeypatch):
    def gone(value: Any) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("semascope.cli.commands.topics.print_json", gone)
    monkeypatch.setattr("sys.stderr.close", lambda: None, raising=False)
    ran = run("topics", model, "--json")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_a_tempered_fit_tells_its_beta(run, corpus, tmp_path):
    fixed, found = (run("fit", corpus, tmp_path / beta, "--topics", 2, "--tempering", beta).out for beta in ("0.8", "auto"))
    assert "iterations with β = 0.8:" in fixed
    assert "passes to find β and" in found
    (facts,) = run("info", tmp_path / "auto", "--json").json
    assert facts["settings"]["tempering"] == "auto"


def test_lda_is_fitted_by_variational_em_when_asked(run, corpus, tmp_path):
    ran = run("fit", corpus, tmp_path / "vb", "--model", "lda", "--inference", "vb", "--topics", 2, "--eta", "auto")
    assert ran.code == 0
    assert "iterations: the bound converged." in ran.out
    assert "β" not in ran.out
    assert load(tmp_path / "vb").elbo_[-1] < 0


def test_lda_is_fitted_with_its_own_options(run, corpus, tmp_path):
    ran = run("fit", corpus, tmp_path / "lda", "--model", "lda", "--topics", 3, "--alpha", "auto", "--eta", 0.05)
    assert ran.code == 0
    (facts,) = run("info", tmp_path / "lda", "--json").json
    assert (facts["model"], facts["settings"]["alpha"], facts["settings"]["eta"]) == ("LDA", "auto", 0.05)
    assert run("topics", tmp_path / "lda").code == 0
    refused = run("fit", corpus, tmp_path / "other", "--model", "lda", "--tempering", "auto")
    assert refused.code == 2
    assert "--tempering is for --model plsa, not for lda." in " ".join(refused.err.replace("│", " ").split())


# --- infer -----------------------------------------------------------------------------------------------------------------


def test_infer_shows_documents_with_their_topics_and_says_what_to_do_next(run, model, source):
    ran = run("infer", model, source, "--limit", 5)
    assert all(f" doc{number} " in ran.out for number in range(5))
    assert " doc5 " not in ran.out
    assert "and 55 more documents" in ran.out
    assert ran.next_commands[0].startswith(f"semascope infer {model} {source} --json")


def test_infer_gives_json_to_programs(run, model, source):
    documents = run("infer", model, source, "--json").json
    assert [document["id"] for document in documents] == [f"doc{number}" for number in range(60)]
    assert all(sum(document["topics"]) == pytest.approx(1, abs=1e-4) for document in documents)
    found = [int(np.argmax(document["topics"])) for document in documents]
    assert found == load(model).doc_topics_.argmax(axis=1).tolist()


def test_infer_numbers_documents_without_an_id(run, model, as_lines, tmp_path):
    new = tmp_path / "new.jsonl"
    new.write_text(as_lines({"text": "cat dog"}, {"id": "x", "text": "tax bank"}, {"text": "fish"}))
    assert [document["id"] for document in run("infer", model, new, "--json").json] == ["0", "x", "2"]


def test_infer_gives_documents_of_unknown_words_the_overall_shares(run, model, as_lines, tmp_path):
    new = tmp_path / "new.jsonl"
    new.write_text(as_lines({"text": "zebra"}, {"text": ""}))
    shares = [round(float(share), 6) for share in load(model).topic_shares_]
    ran = run("infer", model, new, "--json")
    assert [document["topics"] for document in ran.json] == [shares, shares]
    assert [document["topic"] for document in ran.json] == [None, None], "not that of any document"
    assert [line.split()[-1] for line in run("infer", model, new).out.splitlines()[1:3]] == ["–", "–"]
    assert ran.err == "No word of the model's vocabulary in 2 documents.\n"


@pytest.mark.parametrize("name", ["a:cat:1", "[bold]1", "[/red]", "\\"])
def test_infer_shows_ids_as_they_are(run, model, as_lines, tmp_path, name):
    new = tmp_path / "new.jsonl"
    new.write_text(as_lines({"id": name, "text": "cat dog"}))
    assert f" {name} " in run("infer", model, new).out


def test_infer_counts_what_it_left_out_apart_from_the_json(run, model, as_lines, tmp_path):
    new = tmp_path / "new.jsonl"
    new.write_text(as_lines({"text": "cat"}, "{broken", {"text": "tax"}))
    ran = run("infer", model, new, "--json", "--skip-bad")
    assert len(ran.json) == 2
    assert "line 2" in ran.err


# --- info ------------------------------------------------------------------------------------------------------------------


def test_info_describes_a_corpus_and_says_what_to_do_next(run, corpus):
    ran = run("info", corpus)
    assert "1,200" in ran.out
    assert ran.next_commands == [f"semascope fit {corpus} MODEL --topics 10"]


def test_info_describes_a_corpus_to_programs(run, corpus):
    (facts,) = run("info", corpus, "--json").json
    expected = {"kind": "corpus", "documents": 60, "empty_documents": 0, "words": 10, "tokens": 1200.0, "labels": 2}
    assert expected.items() <= facts.items()
    assert facts["fields"] == ["id", "text", "labels", "title"]


def test_info_describes_a_model_and_says_what_to_do_next(run, model):
    ran = run("info", model)
    assert "PLSA" in ran.out
    assert ran.next_commands == [f"semascope topics {model}"]


def test_info_describes_a_model_to_programs(run, corpus, model):
    (facts,) = run("info", model, "--json").json
    expected = {"kind": "model", "model": "PLSA", "topics": 2, "words": 10, "documents": 60, "stopped_by": "converged"}
    assert expected.items() <= facts.items()
    assert facts["corpus"] == str(corpus.resolve())
    (of_corpus,) = run("info", corpus, "--json").json
    assert facts["corpus_fingerprint"] == of_corpus["fingerprint"]


# --- what to do next -------------------------------------------------------------------------------------------------------


def test_build_suggests_a_fit_that_works(run, source, tmp_path):
    suggested = run("build", source, tmp_path / "corpus").next_commands[0]
    assert run(*shlex.split(suggested.replace("MODEL", str(tmp_path / "model")))[1:]).code == 0


def test_info_suggests_a_fit_that_works(run, corpus, tmp_path):
    (suggested,) = run("info", corpus).next_commands
    assert run(*shlex.split(suggested.replace("MODEL", str(tmp_path / "model")))[1:]).code == 0


def test_fit_and_topics_suggest_commands_that_work(run, source, corpus, tmp_path):
    suggested = run("fit", corpus, tmp_path / "model", "--topics", 2).next_commands
    suggested += run("topics", tmp_path / "model").next_commands
    for command in suggested:
        assert run(*shlex.split(command.replace("SOURCE", str(source)))[1:]).code == 0


def test_suggested_paths_with_spaces_can_be_pasted(run, source, tmp_path):
    target = tmp_path / "my corpus"
    for command in run("build", source, target).next_commands:
        assert str(target) in shlex.split(command)


@pytest.mark.parametrize("name", ["run[bold]1", "run[/red]1"])
def test_paths_with_brackets_are_printed_as_they_are(run, source, tmp_path, name):
    corpus, model = tmp_path / name, tmp_path / f"{name}-model"
    ran = run("build", source, corpus)
    assert f"{corpus}: 60 documents" in ran.out
    assert str(corpus) in ran.next_commands[0]
    assert f"{model}: 2 topics" in run("fit", corpus, model, "--topics", 2).out


# --- demo ------------------------------------------------------------------------------------------------------------------


def test_the_demo_needs_nothing_and_leaves_a_corpus_and_a_model(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = run("demo", "--topics", 5)
    assert "Python's standard library" in ran.out
    assert "semascope topics demo/model" in ran.next_commands
    (corpus,), (model,) = run("info", "demo/corpus", "--json").json, run("info", "demo/model", "--json").json
    assert corpus["documents"] == model["documents"] > 1000
    assert model["topics"] == 5
    assert len(run("topics", "demo/model", "--json").json) == 5


# --- formats ---------------------------------------------------------------------------------------------------------------


def test_build_takes_fields_labels_and_encoding_of_a_table(run, tmp_path):
    (tmp_path / "a.csv").write_bytes("nr;head;body;tags\n7;Café;words here;a+b\n8;;more words;\n".encode("latin-1"))
    options = ["--text", "head", "--text", "body", "--id", "nr", "--labels", "tags", "--label-separator", "+"]
    assert run("build", tmp_path / "a.csv", tmp_path / "built", *options, "--encoding", "latin-1").code == 0
    corpus = Corpus.open(tmp_path / "built")
    assert corpus.texts.to_list() == ["Café\nwords here", "more words"]
    assert corpus.ids.to_list() == ["7", "8"]
    assert corpus.labels.to_list() == [["a", "b"], []]


def test_build_takes_a_folder_and_a_format_by_name(run, tmp_path):
    (tmp_path / "texts" / "pets").mkdir(parents=True)
    (tmp_path / "texts" / "pets" / "cat.txt").write_text("a cat purrs")
    assert run("build", tmp_path / "texts", tmp_path / "built").code == 0
    assert Corpus.open(tmp_path / "built").ids.to_list() == ["pets/cat.txt"]
    (tmp_path / "data").write_text("text\tyear\na dog barks\t1999\n")
    assert run("build", tmp_path / "data", tmp_path / "dogs", "--format", "tsv", "--keep", "year").code == 0
    assert Corpus.open(tmp_path / "dogs").documents["year"].to_list() == ["1999"]


def test_build_takes_counts_with_a_vocabulary_and_triples(run, tmp_path):
    (tmp_path / "a.ldac").write_text("2 0:3 1:1\n1 1:2\n")
    (tmp_path / "words").write_text("cat\ndog\n")
    assert run("build", tmp_path / "a.ldac", tmp_path / "counts", "--vocabulary", tmp_path / "words").code == 0
    (tmp_path / "a.csv").write_text("who,what,n\n0,cat,3\n0,dog,1\n1,dog,2\n")
    assert run("build", tmp_path / "a.csv", tmp_path / "triples", "--triples", "who,what,n").code == 0
    counts, triples = Corpus.open(tmp_path / "counts"), Corpus.open(tmp_path / "triples")
    assert counts.fingerprint == triples.fingerprint
    assert counts.counts.toarray().tolist() == [[3, 1], [0, 2]]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--triples", "who,what"], "--triples takes the names of three columns"),
        (["--triples", "who,what,m"], "there is no column 'm'"),
        (["--vocabulary", "words"], "does not apply to a source of texts"),
        (["--format", "mtx"], "this is not a MatrixMarket file"),
        (["--format", "docx"], "there is no format 'docx'"),
        (["--encoding", "klingon"], "there is no encoding 'klingon'"),
    ],
)
def test_options_that_do_not_fit_a_source_are_answered(run, tmp_path, options, sentence):
    (tmp_path / "a.csv").write_text("who,what,n\n0,cat,3\n")
    ran = run("build", tmp_path / "a.csv", tmp_path / "built", *options)
    assert ran.code != 0
    assert sentence in " ".join(ran.err.replace("│", " ").split())
    assert not (tmp_path / "built").exists()


def test_infer_takes_every_format_of_texts(run, model, tmp_path):
    (tmp_path / "new.csv").write_text("nr,head,body\n1,cat,dog\n")
    (line,) = run("infer", model, tmp_path / "new.csv", "--text", "head", "--text", "body", "--id", "nr", "--json").json
    assert line["id"] == "1"
    (tmp_path / "new.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n")
    assert "holds counts, not texts" in run("infer", model, tmp_path / "new.mtx").complaint

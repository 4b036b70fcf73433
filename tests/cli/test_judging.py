"""evaluate, sweep and fit --watch-heldout: what they print and keep, and what they refuse."""

import io
import json
import shlex
import sys

import pytest

from helpers import press_ctrl_c
from semascope import PLSA, Corpus, load
from semascope.cli.render.charts import Line

PNG = b"\x89PNG"


# --- evaluate --------------------------------------------------------------------------------------------------------------


def test_evaluate_finds_the_corpus_of_a_model_and_says_that_it_was_fitted_to_it(run, model, corpus):
    ran = run("evaluate", model)
    assert "the 60 documents it was fitted to: perplexity is not held-out and is optimistic." in ran.out
    table = " ".join(ran.out.split())
    assert "perplexity, not held-out, own prior" in table
    assert "perplexity, not held-out, common prior (0.1 per topic)" in table
    assert all(measure in ran.out for measure in ("npmi", "umass", "c_v", "diversity", "windows: 110 words"))
    assert all(word in ran.out for word in load(model).top_words(1)[0])
    assert f"semascope topics {model}" in ran.next_commands
    assert run("evaluate", model, corpus).out == ran.out


def test_evaluate_says_when_the_corpus_is_another_one(run, model, source, tmp_path):
    run("build", source, tmp_path / "other", "--max-features", 9)
    assert "evaluated on 60 documents of a corpus it was not fitted to." in run("evaluate", model, tmp_path / "other").out


def test_evaluate_gives_json_to_programs(run, model, corpus):
    (report,) = run("evaluate", model, "--words", 4, "--json").json
    fitted, opened = load(model), Corpus.open(corpus)
    assert report["perplexity"] == pytest.approx(fitted.perplexity(opened, prior="own"))
    assert report["perplexity_common"] == pytest.approx(fitted.perplexity(opened, prior="common"))
    assert report["relation"] == "fitted to"
    assert report["documents"] == 60
    assert report["coherence"]["npmi"] == pytest.approx(fitted.coherence(opened, "npmi", 4).tolist())
    assert report["mean_coherence"]["c_v"] == pytest.approx(fitted.coherence(opened, "c_v", 4).mean())
    assert report["diversity"] == fitted.diversity()


def test_evaluate_shows_the_worst_and_the_best_of_many_topics(run, corpus, tmp_path):
    run("fit", corpus, tmp_path / "many", "--topics", 9, "--max-iter", 3)
    out = run("evaluate", tmp_path / "many", "--words", 3).out
    assert "3 more" in out


def test_evaluate_refuses_what_is_no_model_or_no_corpus(run, model, corpus, tmp_path):
    assert "expected a semascope model" in run("evaluate", corpus).complaint
    assert "expected a semascope corpus" in run("evaluate", model, model).complaint
    assert "no such directory" in run("evaluate", tmp_path / "nowhere").complaint


def test_evaluate_says_when_the_model_knows_no_word_of_the_corpus(run, model, as_lines, tmp_path):
    (tmp_path / "other.jsonl").write_text(as_lines({"text": "zebra giraffe"}, {"text": "okapi"}))
    run("build", tmp_path / "other.jsonl", tmp_path / "other")
    assert "at least two words that the model knows" in run("evaluate", model, tmp_path / "other").complaint


def test_evaluate_asks_for_a_corpus_when_the_model_knows_none(run, tmp_path, corpus):
    PLSA(2, random_state=0, max_iter=2).fit(["cat dog", "tax law"]).save(tmp_path / "of-texts")
    assert "name a corpus" in run("evaluate", tmp_path / "of-texts").complaint


def test_evaluate_says_when_the_corpus_is_gone(run, source, tmp_path):
    run("build", source, tmp_path / "corpus")
    run("fit", tmp_path / "corpus", tmp_path / "model", "--topics", 2, "--max-iter", 2)
    (tmp_path / "corpus").rename(tmp_path / "elsewhere")
    complaint = run("evaluate", tmp_path / "model").complaint
    gone = tmp_path / "corpus"
    assert complaint == f"the corpus that the model was fitted to is no longer at {gone}; name a corpus with --corpus."


@pytest.mark.parametrize("name", ["plsa", "lda"])
def test_evaluate_suggests_to_try_other_numbers_of_topics_with_the_same_model(run, corpus, tmp_path, name):
    run("fit", corpus, tmp_path / "model", "--model", name, "--topics", 2, "--max-iter", 2)
    assert f"semascope sweep {corpus} --model {name} --topics 10,20,50,100" in run("evaluate", tmp_path / "model").next_commands


# --- sweep -----------------------------------------------------------------------------------------------------------------


def test_sweep_shows_a_row_for_each_number_of_topics_and_suggests_one(run, corpus):
    ran = run("sweep", corpus, "--topics", "2,1,3", "--max-iter", 20)
    assert "PLSA, fitted to 54 documents and evaluated on 6 held out" in ran.out
    rows = [line.split() for line in ran.out.splitlines() if line.split()[:2] in (["1", "0"], ["2", "0"], ["3", "0"])]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert "Suggested: 2 topics – the " in ran.out
    assert "●" in ran.out
    assert ran.next_commands == [f"semascope fit {corpus} MODEL --model plsa --topics 2 --seed 0 --max-iter 20"]


def test_sweep_gives_json_to_programs(run, corpus):
    *trials, end = run("sweep", corpus, "--topics", "1,2", "--seeds", 2, "--model", "lda", "--max-iter", 5, "--json").json
    assert [(trial["topics"], trial["seed"]) for trial in trials] == [(1, 0), (1, 1), (2, 0), (2, 1)]
    assert {"perplexity", "coherence", "diversity", "seconds", "iterations", "stopped_by"} < trials[0].keys()
    assert end["suggested_topics"] == 2
    assert not end["interrupted"]


def test_labels_have_no_number_of_topics_to_try(run, corpus):
    assert "'labeled' is not one of 'plsa', 'lda', 'lsa'" in run("sweep", corpus, "--model", "labeled").err


def test_sweep_draws_a_picture(run, corpus, tmp_path):
    assert run("sweep", corpus, "--topics", "1,2", "--max-iter", 5, "--out", tmp_path / "sweep.png").code == 0
    assert (tmp_path / "sweep.png").read_bytes().startswith(PNG)


def test_sweep_keeps_numbers_models_and_picture_in_a_folder(run, corpus, tmp_path):
    out = tmp_path / "kept"
    assert run("sweep", corpus, "--topics", "1,2", "--seeds", 2, "--max-iter", 5, "--out", out).code == 0
    trials = [json.loads(line) for line in (out / "trials.jsonl").read_text().splitlines()]
    assert len(trials) == 4
    assert (out / "sweep.png").read_bytes().startswith(PNG)
    (report,) = run("evaluate", out / "topics-2-seed-1", "--json").json
    assert report["relation"] == "held out"
    assert report["perplexity"] == pytest.approx(trials[3]["perplexity"])
    assert "--overwrite" in run("sweep", corpus, "--topics", "1", "--out", out).complaint
    assert run("sweep", corpus, "--topics", "1", "--max-iter", 5, "--out", out, "--overwrite").code == 0


def test_ctrl_c_keeps_the_trials_that_are_finished(run, corpus, tmp_path, monkeypatch):
    press_ctrl_c(monkeypatch, iteration=8)
    ran = run("sweep", corpus, "--topics", "1,2,3", "--max-iter", 5, "--tol", 0, "--out", tmp_path / "kept", "--json")
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert ran.code == 130
    assert [line.get("topics") for line in lines] == [1, None]
    assert lines[-1]["interrupted"]
    assert (tmp_path / "kept" / "topics-1-seed-0").is_dir()
    assert len((tmp_path / "kept" / "trials.jsonl").read_text().splitlines()) == 1


def test_ctrl_c_before_anything_is_finished_is_answered_with_one_sentence(run, corpus, monkeypatch):
    press_ctrl_c(monkeypatch, iteration=2)
    ran = run("sweep", corpus, "--topics", "2,3")
    assert ran.code == 130
    assert ran.complaint == "interrupted."


@pytest.mark.parametrize("topics", ["x", "0", "2,-3", "", "2;3", "1.5"])
def test_sweep_refuses_what_is_no_number_of_topics(run, corpus, topics):
    ran = run("sweep", corpus, "--topics", topics)
    assert ran.code == 2
    assert "--topics takes positive integers" in ran.err


def test_sweep_refuses_before_the_first_fit_what_would_fail_after_it(run, corpus, model, tmp_path, monkeypatch):
    def refused(*options):
        complaint = run("sweep", corpus, "--topics", 2, *options).complaint
        assert "\n" not in complaint
        return complaint

    monkeypatch.setattr("semascope.model_selection._fit_trial", lambda *a: pytest.fail("fitted"))
    assert "10 words, use at most 10" in refused("--topics", "2,40")
    assert "must lie between 0 and 1" in refused("--heldout", 1)
    assert "leaves none to evaluate on" in refused("--heldout", 0.001)
    assert "parent directory does not exist" in refused("--out", tmp_path / "nowhere" / "sweep.png")
    assert "is a semascope model" in refused("--out", model, "--overwrite")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "pip install 'semascope[plot]'" in refused("--out", tmp_path / "sweep.png")


def test_a_folder_is_kept_without_a_picture_where_nothing_can_draw(run, corpus, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    ran = run("sweep", corpus, "--topics", "1,2", "--max-iter", 5, "--out", tmp_path / "kept")
    assert ran.code == 0
    assert "plot skipped" in ran.err
    assert (tmp_path / "kept" / "trials.jsonl").exists()


# --- fit --watch-heldout ---------------------------------------------------------------------------------------------------


def test_a_watched_fit_learns_from_the_rest_and_tells_how_it_went(run, corpus, tmp_path):
    options = ["--topics", 2, "--watch-heldout", 0.2, "--heldout-plot", tmp_path / "heldout.png"]
    ran = run("fit", corpus, tmp_path / "model", *options)
    assert ran.code == 0
    assert ran.err == "12 documents are held out; the model is fitted to the other 48.\n"
    model = load(tmp_path / "model")
    assert len(model.doc_topics_) == 48
    for iteration, _, perplexity in model.heldout_path_:
        assert any(line.split()[::2] == [str(iteration), f"{perplexity:,.1f}"] for line in ran.out.splitlines())
    assert "by seconds of training" in ran.out
    assert (tmp_path / "heldout.png").read_bytes().startswith(PNG)
    (facts,) = run("info", tmp_path / "model", "--json").json
    assert facts["heldout_perplexity"] == model.heldout_path_[-1][2]
    assert facts["corpus"] == str(corpus)


def test_evaluate_finds_the_documents_held_out_of_a_watched_fit(run, corpus, tmp_path):
    run("fit", corpus, tmp_path / "model", "--topics", 2, "--watch-heldout", 0.2, "--seed", 3)
    ran = run("evaluate", tmp_path / "model")
    assert "evaluated on the 12 documents held out of the fit." in ran.out
    assert "held-out perplexity, own prior" in ran.out
    assert "held-out perplexity, common prior (0.1 per topic)" in " ".join(ran.out.split())
    (report,) = run("evaluate", tmp_path / "model", corpus, "--json").json
    assert report["perplexity"] == pytest.approx(load(tmp_path / "model").heldout_path_[-1][2])


def test_what_a_watched_fit_suggests_after_ctrl_c_leads_to_the_same_end(run, corpus, tmp_path, monkeypatch):
    settings = ["--topics", 2, "--max-iter", 12, "--tol", 0.0, "--seed", 3, "--watch-heldout", 0.2]
    run("fit", corpus, tmp_path / "whole", *settings)
    press_ctrl_c(monkeypatch, iteration=4)
    ran = run("fit", corpus, tmp_path / "model", *settings)
    assert ran.code == 130
    assert run(*shlex.split(ran.next_commands[0])[1:]).code == 0
    paths = [[step[::2] for step in load(tmp_path / name).heldout_path_] for name in ("whole", "model")]
    assert paths[0] == paths[1]


def test_a_watched_fit_refuses_before_it_starts_what_would_fail_after_it(run, corpus, tmp_path):
    fit = ["fit", corpus, tmp_path / "model", "--topics", 2]
    assert "must lie between 0 and 1, but was 2." in run(*fit, "--watch-heldout", 2).complaint
    assert "leaves none to evaluate on" in run(*fit, "--watch-heldout", 0.001).complaint
    assert ".png, .svg or .pdf" in run(*fit, "--watch-heldout", 0.1, "--heldout-plot", tmp_path / "x.txt").complaint
    assert "this is a directory" in run(*fit, "--watch-heldout", 0.1, "--heldout-plot", picture_folder(tmp_path)).complaint
    alone = run(*fit, "--heldout-plot", tmp_path / "x.png")
    assert alone.code == 2
    assert "requires --watch-heldout" in alone.err
    assert not (tmp_path / "model").exists()


def picture_folder(tmp_path):
    (tmp_path / "folder.png").mkdir()
    return tmp_path / "folder.png"


# --- lines on the terminal -------------------------------------------------------------------------------------------------


def lines_of(line, width=40, **terminal):
    from rich.console import Console

    file = io.StringIO()
    Console(file=file, width=width, **terminal).print(line)
    return file.getvalue().splitlines()


def test_a_line_falls_from_corner_to_corner():
    *rows, axis, names = lines_of(Line([1, 10, 100], [9.0, 5.0, 1.0], str, str, height=5))
    assert rows[0].startswith("9.0 │●")
    assert rows[-1].startswith("1.0 │")
    assert rows[-1].endswith("●")
    assert "●" in rows[2]
    assert axis.strip().startswith("└─")
    assert names.split() == ["1", "10", "100"]


def test_a_line_of_one_point_or_of_equal_ones_is_drawn():
    assert any("●" in row for row in lines_of(Line([5], [2.0], str, str)))
    assert sum("●" in row for row in lines_of(Line([5, 6, 7], [2.0, 2.0, 2.0], str, str))) == 1


def test_a_line_is_drawn_where_there_is_hardly_any_room():
    assert lines_of(Line([1, 2, 3, 4], [1.0, 2.0, 3.0, 4.0], lambda x: f"{x} seconds", str), width=12)

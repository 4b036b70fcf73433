"""Rankings judged: run files, measures, and whether one search is better than another."""

import gzip
import itertools
import math
import sys

import numpy as np
import polars as pl
import pytest

from semascope.errors import InputError, MissingExtraError
from semascope.evaluation import ranking
from semascope.evaluation.ranking import FORMS, mean_measures, randomization_test, rank_measures, read_run, write_run


def complaint(make):
    with pytest.raises(InputError) as caught:
        make()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def a_run(*rows):
    return pl.DataFrame(rows, schema=["query", "document", "rank", "score"], orient="row")


def judgments(*rows):
    return pl.DataFrame(rows, schema=["query", "document", "relevance"], orient="row")


# --- run files -------------------------------------------------------------------------------------------------------------


def test_a_run_is_read_back_as_it_was_written(tmp_path):
    rng = np.random.default_rng(0)
    scores = [*rng.normal(size=50), *rng.normal(size=50) * 1e-300, 0.1 + 0.2, -0.0, math.inf, -math.inf, 5e-324]
    run = a_run(*((f"q{n % 7}", f"Grüße-{n}", n // 7, score) for n, score in enumerate(scores)))
    write_run(tmp_path / "run", run, tag="ours")
    assert read_run(tmp_path / "run").equals(run)
    assert (tmp_path / "run").read_text(encoding="utf-8").splitlines()[0] == f"q0 Q0 Grüße-0 0 {float(scores[0])!r} ours"


def test_a_run_may_be_gzipped_and_have_any_blanks(tmp_path):
    (tmp_path / "run.gz").write_bytes(gzip.compress(b"1\tQ0\td1\t0\t2.5\tx\r\n\n 1  Q0  d2  1  -1e3  x"))
    assert read_run(tmp_path / "run.gz").rows() == [("1", "d1", 0, 2.5), ("1", "d2", 1, -1000.0)]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("1 Q0 d1 1 2.5\n", "{}, line 1: expected query, Q0, document, rank, score and tag, found 5 values."),
        (
            "1 Q0 d1 1 2.5 x\n\n1 Q0 d 2 2 2.5 x\n",
            "{}, line 3: expected query, Q0, document, rank, score and tag, found 7 values.",
        ),
        ("1 Q0 d1 first 2.5 x\n", "{}, line 1: the rank 'first' is not a whole number."),
        ("1 Q0 d1 1 high x\n", "{}, line 1: the score 'high' is not a number."),
        ("1 Q0 d1 1 nan x\n", "{}, line 1: the score 'nan' is not a number."),
        ("1 Q0 d1 1 1_0 x\n", "{}, line 1: the score '1_0' is not a number."),
        ("1 Q0 d1 1 3 x\n2 Q0 d1 1 2 x\n1 Q0 d1 2 1 x\n", "{}, line 3: document d1 is already listed for query 1 on line 1."),
        ("\n", "{}: the file contains no results."),
        ("", "{}: the file contains no results."),
        (None, "{}: no such file."),
    ],
)
def test_a_bad_run_is_answered_with_a_sentence(tmp_path, content, sentence):
    path = tmp_path / "run"
    if content is not None:
        path.write_text(content)
    assert complaint(lambda: read_run(path)) == sentence.format(path)


def test_a_run_that_is_not_utf_8_is_answered_with_a_sentence(tmp_path):
    (tmp_path / "run").write_bytes(b"1 Q0 caf\xe9 1 2.5 x\n")
    assert complaint(lambda: read_run(tmp_path / "run")).startswith(f"{tmp_path / 'run'}, line 1: not UTF-8 (byte 0xe9")


REFUSED = "must not be empty or contain whitespace, which separates the values of a run file."


@pytest.mark.parametrize(
    ("rows", "tag", "sentence"),
    [
        ([("1", "a b", 1, 2.0)], "x", f"{{}}: the document 'a b' {REFUSED}"),
        ([("one\t", "a", 1, 2.0)], "x", f"{{}}: the query 'one\\t' {REFUSED}"),
        ([("1", "", 1, 2.0)], "x", f"{{}}: the document '' {REFUSED}"),
        ([("1", "a", 1, 2.0)], "my run", f"{{}}: the tag 'my run' {REFUSED}"),
        ([("1", "a", 1, 2.0), ("1", "b", 2, math.nan)], "x", "{}: a result has no rank or no score."),
        ([("1", "a", 1, 2.0), ("1", "a", 2, 1.0)], "x", "{}: document a is listed twice for query 1."),
        ([], "x", "{}: there are no results to write."),
    ],
)
def test_a_run_that_could_not_be_read_back_is_not_written(tmp_path, rows, tag, sentence):
    write_run(tmp_path / "run", a_run(("1", "old", 1, 1.0)))
    assert complaint(lambda: write_run(tmp_path / "run", a_run(*rows), tag)) == sentence.format(tmp_path / "run")
    assert read_run(tmp_path / "run")["document"].to_list() == ["old"]


def test_a_write_that_fails_leaves_nothing_behind(tmp_path):
    (tmp_path / "run").mkdir()
    with pytest.raises(OSError, match="run"):
        write_run(tmp_path / "run", a_run(("1", "a", 1, 1.0)))
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


# --- measures --------------------------------------------------------------------------------------------------------------


def by_hand(ranked, relevance):
    """The measures of a ranking, from how relevant each judged document is."""
    gains = [max(relevance.get(document, 0), 0) for document in ranked]
    hits, n_relevant = np.array(gains) > 0, sum(value > 0 for value in relevance.values())
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    ideal = sorted((value for value in relevance.values() if value > 0), reverse=True)
    discounted = [sum(gain / math.log2(rank + 2) for rank, gain in enumerate(best[:10])) for best in (gains, ideal)]
    return {
        "AP": precision[hits].sum() / n_relevant,
        "P@5": hits[:5].sum() / 5,
        "Rprec": hits[:n_relevant].sum() / n_relevant,
        "nDCG@10": discounted[0] / discounted[1],
    }


@pytest.mark.parametrize("seed", range(5))
def test_measures_are_those_that_a_few_lines_give(seed):
    rng = np.random.default_rng(seed)
    run, qrels, expected = [], [], []
    for query in map(str, range(20)):
        documents = [f"d{n}" for n in rng.permutation(40)]
        relevance = {document: int(rng.integers(-1, 4)) for document in rng.choice(documents, 15, replace=False)}
        relevance[documents[0]] = 1
        ranked = list(rng.permutation(documents)[: rng.integers(3, 41)])
        scores = 1 - np.arange(len(ranked)) * 1e-12  # as float32 they would all be the same
        run += [(query, document, 0, score) for document, score in zip(ranked, scores, strict=True)]
        qrels += [(query, document, value) for document, value in relevance.items()]
        expected.append({"query": query, **by_hand(ranked, relevance)})
    values = rank_measures(a_run(*run).sample(fraction=1, shuffle=True, seed=seed), judgments(*qrels))
    assert values.columns == ["query", "AP", "P@5", "Rprec", "nDCG@10"]
    assert values["query"].to_list() == [row["query"] for row in expected]
    for name in values.columns[1:]:
        np.testing.assert_allclose(values[name], [row[name] for row in expected], atol=1e-12)
        assert mean_measures(values)[name] == pytest.approx(np.mean([row[name] for row in expected]))


def test_every_measure_that_is_offered_can_be_computed():
    names = [form.replace("@k", "@3") for form in FORMS]
    best = rank_measures(
        a_run(("1", "a", 1, 2.0), ("1", "b", 2, 1.0), ("1", "c", 3, 0.0)),
        judgments(("1", "a", 1), ("1", "b", 1), ("1", "c", 1), ("1", "d", 0)),
        names,
    )
    assert best.columns == ["query", *names]
    assert best.row(0) == ("1", *[1.0] * len(names))


def test_queries_without_results_count_as_0_and_those_without_a_relevant_document_not_at_all():
    qrels = judgments(("z", "a", 1), ("none", "a", 0), ("less", "a", -1), ("missed", "b", 2), ("missed", "c", 0))
    run = a_run(("z", "a", 1, 1.0), ("none", "a", 1, 1.0), ("unknown", "a", 1, 1.0), ("unknown", "b", 2, 0.5))
    values = rank_measures(run, qrels)
    assert values.rows() == [("z", 1.0, 0.2, 1.0, 1.0), ("missed", 0.0, 0.0, 0.0, 0.0)]
    assert mean_measures(values) == {"AP": 0.5, "P@5": 0.1, "Rprec": 0.5, "nDCG@10": 0.5}
    assert rank_measures(run.clear(), qrels)["AP"].to_list() == [0.0, 0.0]


def test_ties_are_broken_alike_in_all_measures_and_as_trec_eval_does():
    run = a_run(("1", "a", 1, 1.0), ("1", "b", 2, 1.0))
    first = rank_measures(run, judgments(("1", "b", 1)), ["RR", "RR@10", "P@1"])
    assert first.row(0) == ("1", 1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    "name", ["map", "P", "P@0", "P@k", "P@-5", "P@5.0", "AP(rel=2)", "Rprec@5", "nDCG @10", "nDCG@10\n", "", "@"]
)
def test_a_measure_that_is_not_known_is_answered_with_a_sentence(name):
    sentence = complaint(lambda: rank_measures(a_run(("1", "a", 1, 1.0)), judgments(("1", "a", 1)), ["AP", name]))
    assert sentence.startswith(f"unknown measure {name!r}; choose from AP, AP@k, ")


def test_without_a_relevant_document_there_is_nothing_to_judge_by():
    sentence = complaint(lambda: rank_measures(a_run(("1", "a", 1, 1.0)), judgments(("1", "a", 0))))
    assert sentence == "no query has a relevant document, so rankings cannot be evaluated."


def test_without_ir_measures_the_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'semascope\[eval\]'"):
        rank_measures(a_run(("1", "a", 1, 1.0)), judgments(("1", "a", 1)))


# --- differences -----------------------------------------------------------------------------------------------------------


def brute_force(one, other):
    differences = np.subtract(one, other)
    means = [np.mean(differences * signs) for signs in itertools.product([1, -1], repeat=len(differences))]
    return sum(abs(mean) >= abs(means[0]) - 1e-9 for mean in means) / len(means)


@pytest.mark.parametrize("n_pairs", [1, 2, 5, 9])
def test_few_pairs_have_the_p_value_of_all_exchanges(n_pairs):
    rng = np.random.default_rng(n_pairs)
    for one, other in rng.random((5, 2, n_pairs)).round(1):  # rounded, so that there are ties
        assert randomization_test(one, other) == brute_force(one, other)
        assert randomization_test(one, other, seed=1) == randomization_test(other, one)


def test_many_pairs_have_about_the_p_value_of_all_exchanges():
    one, other = np.random.default_rng(3).random((2, 12))
    exact = randomization_test(one, other, n=2**12)
    assert exact == brute_force(one, other)
    assert randomization_test(one, other, n=4_000) == pytest.approx(exact, abs=0.03)
    assert randomization_test(one, other, n=4_000) != randomization_test(one, other, n=4_000, seed=1)


@pytest.mark.parametrize("n", [1 << 12, 4_000])
def test_the_p_value_does_not_depend_on_how_the_work_is_cut(monkeypatch, n):
    one, other = np.random.default_rng(3).random((2, 12))
    whole = randomization_test(one, other, n)
    monkeypatch.setattr(ranking, "BLOCK_SIGNS", 1_000)
    assert randomization_test(one, other, n) == whole


def test_p_values_are_uniform_when_there_is_no_difference():
    rng = np.random.default_rng(0)
    p = np.sort([randomization_test(*rng.random((2, 20)), n=500, seed=seed) for seed in range(200)])
    assert np.abs(p - (np.arange(200) + 0.5) / 200).max() < 0.1  # Kolmogorov and Smirnov allow 0.096 at the level 0.05


def test_an_obvious_difference_has_a_tiny_p_value():
    one = np.random.default_rng(0).random(100)
    assert randomization_test(one + 0.5, one) == 1 / 10_001
    assert randomization_test(one[:13] + 0.5, one[:13]) == 2 / 2**13


@pytest.mark.parametrize("n_pairs", [3, 300])
def test_the_same_values_have_the_p_value_1(n_pairs):
    values = np.random.default_rng(0).random(n_pairs)
    assert randomization_test(values, values) == 1.0


@pytest.mark.parametrize(
    ("one", "other", "n", "sentence"),
    [
        ([1, 2], [1], 10, "expected two lists of values for the same queries, found shapes (2,) and (1,)."),
        ([], [], 10, "expected two lists of values for the same queries, found shapes (0,) and (0,)."),
        ([1, math.nan], [1, 2], 10, "a randomization test needs finite values, but some are not finite."),
        ([1, 2], [1, 3], 0, "the number of exchanges must be at least 1, but was 0."),
    ],
)
def test_what_cannot_be_tested_is_answered_with_a_sentence(one, other, n, sentence):
    assert complaint(lambda: randomization_test(one, other, n)) == sentence

"""Scores by topics are those of the papers' formulas, whatever the documents and however they are cut into segments."""

from functools import cache
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from helpers import random_counts
from reference.fisher import fisher_dense, kl_dense, likelihood_dense
from semascope.corpus.csr import CSR
from semascope.corpus.shards import Shard, read_only
from semascope.errors import InputError
from semascope.kernels.fisher import add_entries, add_information, add_shared_words
from semascope.kernels.sparse_products import entries_of_product, project_documents
from semascope.retrieval.fisher import FLOOR, INFORMATION, PARTS, PROCESSES, Fisher
from semascope.retrieval.likelihood import kl_scores, likelihood_scores
from semascope.retrieval.topic_documents import TopicDocuments

SHAPES = {0: (30, 25, 3), 1: (12, 40, 1), 2: (41, 17, 8), 3: (1, 30, 5), 4: (25, 60, 33)}
"""Documents, words and topics by seed."""


def rows_of(counts):
    matrix = sp.csr_array(counts)
    return read_only(CSR(matrix.indptr, matrix.indices, matrix.data))


def documents_of(counts, theta):
    rows = rows_of(counts)
    return TopicDocuments(rows, Shard(0, 0, counts.shape[1], rows).by_word, theta)


class Case:
    """A random model of random counts; many probabilities are zero, some documents and queries have no words."""

    def __init__(self, seed):
        n_documents, n_words, n_topics = SHAPES[seed]
        rng = np.random.default_rng(seed)
        self.counts = random_counts(seed, n_documents, n_words, n_topics)
        self.theta, self.query_theta = (rng.dirichlet(np.full(n_topics, 0.05), n) for n in (n_documents, 9))
        self.topics = np.ascontiguousarray(rng.dirichlet(np.full(n_words, 0.1), n_topics).T)
        self.topics[rng.random(self.topics.shape) < 0.2] = 0
        self.queries = random_counts(seed + 100, 9, n_words, length=6)
        self.background = self.counts.sum(axis=0) / max(self.counts.sum(), 1)
        self.documents = documents_of(self.counts, self.theta)
        self.fisher = Fisher([self.documents], self.topics)

    def cut(self, *places):
        """The same documents in several segments."""
        return list(map(documents_of, np.split(self.counts, places), np.split(self.theta, places)))

    def scores(self, fisher, **choice):
        return fisher.scores(0, rows_of(self.queries), self.query_theta, **choice)


@cache
def case_of(seed):
    return Case(seed)


KERNELS = [
    {"process": process, "information": information, "part": part}
    for process, information, part in product(PROCESSES, INFORMATION, PARTS)
]


def every_score(segments, topics, queries, theta, background):
    """All scores of the documents of all segments, by a name for each kind."""
    fisher, without_floor, found = Fisher(segments, topics), Fisher(segments, topics, floor=0.0), {}
    for number, documents in enumerate(segments):
        for choice in KERNELS:
            found[number, *choice.values()] = fisher.scores(number, queries, theta, **choice)
            if choice["information"] == "ifim":
                found[number, *choice.values(), "no floor"] = without_floor.scores(number, queries, theta, **choice)
        arguments = documents, topics, queries, background
        found[number, "divergence"] = kl_scores(*arguments)
        found[number, "divergence as published"] = kl_scores(*arguments, published=True)
        found[number, "divergence, not smoothed"] = kl_scores(*arguments, smoothing=0.0)
        found[number, "likelihood"] = likelihood_scores(*arguments)
        found[number, "likelihood, not smoothed"] = likelihood_scores(*arguments, mu=0.0, share=1.0)
    return found


@pytest.mark.parametrize(("information", "floor"), [*product(INFORMATION, (FLOOR, 1e-3)), ("ifim", 0.0)])  # dfim needs one
@pytest.mark.parametrize("process", PROCESSES)
@pytest.mark.parametrize("seed", SHAPES)
def test_kernels_are_made_of_fisher_scores_and_information(seed, process, information, floor):
    case = case_of(seed)
    fisher = Fisher([case.documents], case.topics, floor=floor)
    model = case.counts, case.theta, case.topics
    wanted = fisher_dense(*model, case.queries, case.query_theta, process, information, floor)
    for part, scores in zip("zw", wanted, strict=True):
        found = case.scores(fisher, process=process, information=information, part=part)
        assert_allclose(found, scores, rtol=1e-8, atol=1e-300)
        assert found.flags.c_contiguous
    assert wanted[1].any()


@pytest.mark.parametrize("smoothing", [0.0, 0.5, 0.9, None])
@pytest.mark.parametrize("seed", SHAPES)
def test_divergences_are_those_of_the_formula(seed, smoothing):
    case = case_of(seed)
    how = {"published": True} if smoothing is None else {"smoothing": smoothing}
    found = kl_scores(case.documents, case.topics, rows_of(case.queries), case.background, **how)
    assert_allclose(found, kl_dense(case.theta, case.topics, case.queries, case.background, smoothing), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(("mu", "share"), [(1000.0, 0.7), (5.0, 0.2), (0.0, 0.5), (0.0, 1.0)])
@pytest.mark.parametrize("seed", SHAPES)
def test_likelihoods_are_those_of_the_formula(seed, mu, share):
    case = case_of(seed)
    found = likelihood_scores(case.documents, case.topics, rows_of(case.queries), case.background, mu, share)
    wanted = likelihood_dense(case.counts, case.theta, case.topics, case.queries, case.background, mu, share)
    assert_allclose(found, wanted, rtol=1e-8)


def test_blocks_of_documents_and_words_do_not_matter(monkeypatch):
    case = case_of(2)
    whole = every_score([case.documents], case.topics, rows_of(case.queries), case.query_theta, case.background)
    monkeypatch.setattr("semascope.training.linalg.BLOCK", 7)
    monkeypatch.setattr("semascope.retrieval.likelihood.WORDS", 3)
    cut = every_score([case.documents], case.topics, rows_of(case.queries), case.query_theta, case.background)
    for kind, scores in whole.items():
        assert_allclose(cut[kind], scores, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("choice", [choice for choice in KERNELS if choice["part"] == "both"], ids=str)
def test_a_kernel_is_the_sum_of_its_parts_to_the_bit(choice):
    case = case_of(0)
    both, by_topics, by_words = (case.scores(case.fisher, **choice | {"part": part}) for part in PARTS)
    assert_array_equal(both, by_topics + by_words)


@pytest.mark.parametrize("seed", SHAPES)
def test_with_the_identity_the_part_of_words_is_the_same_for_both_processes(seed):
    case = case_of(seed)
    hofmann, iid = (case.scores(case.fisher, process=process, part="w") for process in PROCESSES)
    assert_array_equal(hofmann, iid)


@pytest.mark.parametrize("seed", [0, 2, 4])
def test_scores_do_not_depend_on_the_cut_into_segments(seed):
    case = case_of(seed)
    arguments = case.topics, rows_of(case.queries), case.query_theta, case.background
    whole = every_score([case.documents], *arguments)
    cut = every_score(case.cut(5, 5, 11), *arguments)
    for (_, *kind), scores in whole.items():
        parts = [cut[number, *kind] for number in range(4)]
        assert_allclose(np.hstack(parts), scores, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("seed", [0, 4])
def test_what_a_query_is_asked_together_with_does_not_matter(seed):
    case = case_of(seed)
    whole = every_score([case.documents], case.topics, rows_of(case.queries), case.query_theta, case.background)
    alone = every_score([case.documents], case.topics, rows_of(case.queries[4:5]), case.query_theta[4:5], case.background)
    for kind, scores in alone.items():
        assert_allclose(scores[0], whole[kind][4], rtol=1e-12, atol=1e-300)


def model_without(what):
    """A model in which something is missing."""
    case = case_of(0)
    model = {name: getattr(case, name) for name in ("counts", "theta", "topics", "queries", "query_theta", "background")}
    if what in model:
        return model | {what: np.zeros_like(model[what])}
    return (
        model
        | {
            "a topic": {"theta": case.theta * [1, 0, 1], "query_theta": case.query_theta * [1, 0, 1]},
            "topics of a word": {"topics": np.where(np.arange(25)[:, None] < 20, case.topics, 0)},
            "precision": {"theta": np.where(case.theta < 0.5, 1e-290, 1.0), "topics": case.topics**90},
            "documents": {"counts": case.counts[:0], "theta": case.theta[:0]},
            "anybody asking": {"queries": case.queries[:0], "query_theta": case.query_theta[:0]},
            "everything": {name: np.zeros_like(value) for name, value in model.items()},
        }[what]
    )


MISSING = [
    "counts", "theta", "topics", "queries", "query_theta", "background",
    "a topic", "topics of a word", "precision", "documents", "anybody asking", "everything",
]  # fmt: skip


@pytest.mark.parametrize("what", MISSING)
def test_no_score_is_ever_infinite_or_nan(what):
    model = model_without(what)
    documents, queries = documents_of(model["counts"], model["theta"]), rows_of(model["queries"])
    found = every_score([documents], model["topics"], queries, model["query_theta"], model["background"])
    assert all(scores.shape == (len(model["queries"]), len(model["counts"])) for scores in found.values())
    assert all(np.isfinite(scores).all() for scores in found.values())


def test_documents_without_words_share_none_with_a_query():
    case = case_of(0)
    empty = case.counts.sum(axis=1) == 0
    assert empty.any()
    for process, information in product(PROCESSES, INFORMATION):
        scores = case.scores(case.fisher, process=process, information=information, part="w")
        assert not scores[:, empty].any()
        assert not scores[case.queries.sum(axis=1) == 0].any()


def test_words_of_which_nothing_is_known_do_not_change_the_order():
    case = case_of(0)
    topics, background = (np.append(table, np.zeros_like(table[:1]), axis=0) for table in (case.topics, case.background))
    counts = np.column_stack([case.counts, np.zeros(len(case.counts))])
    without, with_it = (np.column_stack([case.queries, np.full(9, n)]) for n in (0, 2))
    documents = documents_of(counts, case.theta)
    one, other = (likelihood_scores(documents, topics, rows_of(queries), background) for queries in (without, with_it))
    assert_array_equal(one, other)
    asked = case.queries.any(axis=1)
    one, other = (kl_scores(documents, topics, rows_of(queries), background)[asked] for queries in (without, with_it))
    assert_array_equal(np.argsort(one, axis=1, kind="stable"), np.argsort(other, axis=1, kind="stable"))


def test_a_choice_that_there_is_not_is_told():
    with pytest.raises(InputError, match="part must be one of both, z, w, but was 'x'"):
        case_of(0).scores(case_of(0).fisher, part="x")


def test_nothing_recompiles_on_other_kinds_of_input():
    case = case_of(0)
    every_score([case.documents], case.topics, rows_of(case.queries), case.query_theta, case.background)
    functions = [add_entries, add_information, add_shared_words, entries_of_product, project_documents]
    before = [len(function.signatures) for function in functions]
    writable = TopicDocuments(CSR(*map(np.array, case.documents.rows)), case.documents.by_word, np.asfortranarray(case.theta))
    queries = CSR(*map(np.array, rows_of(case.queries)))
    every_score([writable], np.asfortranarray(case.topics, np.float32), queries, case.query_theta, case.background)
    assert [len(function.signatures) for function in functions] == before

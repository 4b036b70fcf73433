"""Scores by words are those of dense arrays and of other packages, and the best of them are those of a sort."""

import argparse
import socket
import subprocess
from functools import cache

import bm25s
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import TfidfVectorizer

from helpers import random_counts
from reference import postings as reference
from semascope import LDA, LSA, Analyzer, Corpus, Index
from semascope.corpus.csr import CSR
from semascope.corpus.shards import Shard, as_read_only, read_only
from semascope.kernels import postings as kernels
from semascope.retrieval.fusion import CANDIDATES, WITH_TOPICS, WITHOUT_TOPICS
from semascope.retrieval.likelihood import likelihood_scores
from semascope.retrieval.ranking import best_of
from semascope.retrieval.segments import Postings
from semascope.retrieval.topic_documents import TopicDocuments

SHAPES = {0: (30, 25), 1: (1, 40), 2: (200, 7), 3: (9, 1), 4: (64, 300), 5: (257, 50)}
"""Documents and words by seed."""


def counts_of(seed):
    return random_counts(seed, *SHAPES[seed])


def rows_of(counts):
    matrix = sp.csr_array(counts)
    return read_only(CSR(matrix.indptr, matrix.indices, matrix.data))


def postings_of(counts):
    matrix = sp.csc_array(counts)
    return Postings(
        as_read_only(matrix.indptr, np.int64), as_read_only(matrix.indices, np.int32), matrix.data.astype(np.float32)
    )


# --- kernels ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("saturation", "normalization"), [(1.5, 0.75), (1.2, 0.0), (0.0, 0.5), (2.0, 1.0)])
@pytest.mark.parametrize("seed", SHAPES)
def test_weights_of_bm25_are_those_of_the_formula(seed, saturation, normalization):
    counts = counts_of(seed)
    counts[0, 0] += 1
    lengths, rarity = counts.sum(axis=1), np.random.default_rng(seed).exponential(size=counts.shape[1])
    postings, settings = postings_of(counts), (lengths.mean(), saturation, normalization)
    weights = np.empty(len(postings.documents), np.float32)
    kernels.bm25_weights(*postings, as_read_only(lengths, np.float32), as_read_only(rarity, np.float32), *settings, weights)
    found = sp.csc_array((weights, postings.documents, postings.ends), shape=counts.shape).toarray()
    with np.errstate(invalid="ignore"):  # 0 / 0 where nothing saturates and a word is not there
        wanted = reference.bm25_weights(counts, lengths, rarity, *settings)
    assert_allclose(found, np.nan_to_num(wanted), rtol=1e-6)


@pytest.mark.parametrize("first", [0, 3])
@pytest.mark.parametrize("seed", SHAPES)
def test_postings_add_up_to_the_product_of_queries_and_documents(seed, first):
    counts, queries = counts_of(seed), random_counts(seed + 50, 6, SHAPES[seed][1], length=4)
    asked, postings = rows_of(queries), postings_of(counts)
    scores = np.random.default_rng(seed).random((6, first + len(counts) + 2), dtype=np.float32)
    wanted = scores.astype(float)
    known = np.arange(counts.shape[1]) % 3 > 0  # the others have no postings
    wanted[:, first : first + len(counts)] += (queries * known) @ counts.T
    words = as_read_only(np.where(known[asked.words], asked.words, -1), np.int32)
    kernels.add_postings(*postings, asked.ends, words, asked.counts, first, scores)
    assert_allclose(scores, wanted, rtol=1e-6)


def some_scores(rng, n, kind):
    """Scores of a kind that is hard to put in order."""
    scores = rng.standard_normal(n)
    if kind == "few different":
        scores = rng.integers(0, 4, n)
    elif kind == "all equal":
        scores = np.ones(n)
    elif kind == "ascending":
        scores = np.sort(scores)
    elif kind == "many without":
        scores[rng.random(n) < 0.7] = -np.inf
    elif kind == "none":
        scores = np.full(n, -np.inf)
    return scores.astype(np.float32)


KINDS = ["random", "few different", "all equal", "ascending", "many without", "none"]


@pytest.mark.parametrize("find", ["kernel", "ranking"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_best_scores_are_those_of_a_stable_sort(kind, find):
    rng = np.random.default_rng(KINDS.index(kind))
    for n in (0, 1, 2, 7, 255, 256, 257, 1000, 3000):
        scores = some_scores(rng, n, kind)
        for k in (1, 2, 10, 70, 290, n, n + 5):
            for least in (-np.inf, 0.0, 0.5):
                for allowed in (np.ones(n, dtype=bool), rng.random(n) < 0.3, np.zeros(n, dtype=bool)):
                    wanted, their_scores = reference.best_scores(scores, k, least, allowed)
                    numbers, best = best_by(find, scores, allowed, k, least)
                    assert_array_equal(numbers, wanted)
                    assert_array_equal(best, their_scores)


def best_by(find, scores, allowed, k, least):
    if find == "ranking":
        return best_of(scores, allowed, k, least)
    numbers, best = np.empty(k, np.int32), np.empty(k, np.float32)
    found = kernels.best_scores(scores, allowed, least, numbers, best)
    return numbers[:found], best[:found]


def test_without_a_choice_all_documents_are_allowed():
    scores, (numbers, best) = np.array([1, 3, 2], np.float32), (np.empty(2, np.int32), np.empty(2, np.float32))
    assert kernels.best_scores(scores, np.empty(0, dtype=bool), -np.inf, numbers, best) == 2
    assert numbers.tolist() == [1, 2]


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000])
def test_scores_are_summed_up_and_fused_as_arrays_are(n):
    rng = np.random.default_rng(n)
    one, other = (rng.standard_normal(n).astype(np.float32) - 3 for _ in range(2))
    mean, largest = kernels.mean_and_largest(one)
    assert_allclose(mean, one.mean(dtype=float) if n else 0, rtol=1e-6)
    assert largest == (one.max() if n else 0)
    wanted = 0.7 * one - 1.5 * other - 0.25
    kernels.fuse(one, np.float32(0.7), other, np.float32(-1.5), np.float32(0.25))
    assert_allclose(one, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("seed", SHAPES)
def test_likelihoods_of_some_documents_are_those_of_all(seed):
    counts, rng = counts_of(seed), np.random.default_rng(seed)
    theta, topics = rng.dirichlet(np.full(5, 0.1), len(counts)), rng.dirichlet(np.full(counts.shape[1], 0.1), 5).T
    topics[rng.random(topics.shape) < 0.2] = 0
    background = counts.sum(axis=0) / max(counts.sum(), 1)
    rows, queries = rows_of(counts), rows_of(random_counts(seed + 50, 4, counts.shape[1], length=6))
    documents = TopicDocuments(rows, Shard(0, 0, counts.shape[1], rows).by_word, theta)
    wanted = likelihood_scores(documents, topics, queries, background, 200.0, 0.6)
    chosen = as_read_only(np.flatnonzero(rng.random(len(counts)) < 0.4), np.int32)
    given = (counts.sum(axis=1), theta, np.ascontiguousarray(topics), background)
    for query in range(4):
        mine, scores = slice(*queries.ends[query : query + 2]), np.empty(len(chosen), np.float32)
        asked = queries.words[mine], queries.counts[mine]
        settings = np.float32(200), np.float32(0.6)
        kernels.likelihoods_of_few(*rows, *(as_read_only(one, np.float32) for one in given), *asked, *settings, chosen, scores)
        assert_allclose(scores, wanted[query, chosen], rtol=1e-5, atol=1e-5)


# --- through an index ------------------------------------------------------------------------------------------------------


def random_texts(seed, n_documents=80, n_words=60):
    """Texts of planted topics, some of them empty."""
    counts = random_counts(seed, n_documents, n_words).astype(int)
    texts = [" ".join(f"word{w} " * n for w, n in enumerate(row) if n) for row in counts]
    return [*texts, "word0 only of all texts has several unusual words"]


def docstrings():
    """Texts like those of the demo."""
    values = (value for module in (argparse, socket, subprocess) for value in vars(module).values())
    return list(dict.fromkeys(value.__doc__ for value in values if isinstance(value.__doc__, str)))


TEXTS = {f"random {seed}": (random_texts, (seed,)) for seed in range(4)} | {"docstrings": (docstrings, ())}
ENGLISH = Analyzer(stop_words="english", stemmer="english", min_length=3)


@cache
def texts_of(name):
    make, arguments = TEXTS[name]
    return make(*arguments)


@cache
def index_of(name, analyzer=ENGLISH):
    return Index.build(Corpus.from_texts(texts_of(name), analyzer=analyzer), n_dimensions=12)


def queries_for(name):
    """Some words of a text, some of them twice, and words that there are not."""
    texts, rng = texts_of(name), np.random.default_rng(0)
    words = [word for word in " ".join(texts).split() if ENGLISH.words(word)]
    return [*(" ".join(rng.choice(words, n)) for n in (1, 2, 5, 40)), f"unheard-of {words[0]}", texts[0] + texts[-1]]


def all_scores(index, queries, by, where=None, of_none=0.0):
    """Scores of all documents; of those that are not found, `of_none`."""
    found = np.full((len(queries), len(index.ids)), of_none, np.float32)
    for row, ranking in zip(found, index.rank(index.read(queries), len(index.ids), by=by, where=where), strict=True):
        row[ranking.numbers] = ranking.scores
    return found


def dense(corpus, queries):
    """Counts of documents and of queries over the words of a corpus."""
    asked = Corpus.from_texts(queries, analyzer=corpus.analyzer, vocabulary=corpus.lexicon)
    return corpus.counts.toarray().astype(float), asked.counts.toarray().astype(float)


@pytest.mark.parametrize("analyzer", [ENGLISH, Analyzer()])
@pytest.mark.parametrize("name", TEXTS)
def test_bm25_is_that_of_bm25s(name, analyzer):
    theirs = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    theirs.index([analyzer.words(text) for text in texts_of(name)], show_progress=False)
    queries = queries_for(name)
    wanted = np.array([theirs.get_scores(analyzer.words(query)) for query in queries])
    found = all_scores(index_of(name, analyzer), queries, "bm25")
    assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    assert found.any(axis=1).all()


@pytest.mark.parametrize("name", TEXTS)
def test_bm25_is_that_of_dense_arrays(name):
    index = index_of(name)
    counts, asked = dense(index._segments[0].corpus, queries_for(name))
    assert_allclose(all_scores(index, queries_for(name), "bm25"), reference.bm25_scores(counts, asked), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", TEXTS)
def test_the_cosine_is_that_of_scikit_learn_and_of_dense_arrays(name):
    queries = queries_for(name)
    found = all_scores(index_of(name), queries, "cosine")
    theirs = TfidfVectorizer(analyzer=ENGLISH.words, smooth_idf=False)
    documents = theirs.fit_transform(texts_of(name))
    assert_allclose(found, (theirs.transform(queries) @ documents.T).toarray(), rtol=1e-5, atol=1e-6)
    counts, asked = dense(index_of(name)._segments[0].corpus, queries)
    weighted = (reference.tfidf(part, counts) for part in (asked, counts))
    assert_allclose(found, reference.cosines(*weighted), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("weighting", ["hellinger", "logtfidf"])
@pytest.mark.parametrize("name", TEXTS)
def test_by_lsa_scores_are_cosines_of_what_the_model_makes_of_texts(name, weighting):
    corpus = Corpus.from_texts(texts_of(name), analyzer=ENGLISH)
    model = LSA(8, weighting=weighting, solver="arpack", random_state=0).fit(corpus)
    queries = queries_for(name)
    asked, documents = model.transform(queries), model.transform(corpus)
    tell = np.linalg.norm(documents, axis=1) > 1e-6  # others have no part in the space but rounding errors
    found = all_scores(Index.build(corpus, model), queries, "lsa")
    assert_allclose(found[:, tell], reference.cosines(asked, documents[tell]), atol=1e-5)
    assert tell.mean() > 0.8
    assert np.abs(found).max(axis=1).min() > 0.1


@pytest.mark.parametrize("chosen", [None, "a", "b"])
@pytest.mark.parametrize("with_topics", [True, False])
def test_hybrid_scores_are_those_of_dense_arrays(with_topics, chosen):
    texts = random_texts(7, n_documents=900, n_words=200)
    labels = ["a" if number % 2 else "b" if number % 71 == 0 else "c" for number in range(len(texts))]
    corpus = Corpus.from_texts(texts, labels=labels)
    index = Index.build(corpus, LDA(4, max_iter=10, random_state=0).fit(corpus) if with_topics else None, n_dimensions=6)
    queries, where = ["word3 word5 word5 word8", "word190 word11", "several words"], chosen and {"label": chosen}
    allowed = np.array([chosen in (None, label) for label in labels])
    assert (allowed.sum() > CANDIDATES) == (chosen != "b")
    found = all_scores(index, queries, "hybrid", where)
    parts = [all_scores(index, queries, by).astype(float) for by in ("bm25", "lsa")]
    likelihoods = all_scores(index, queries, "lda").astype(float) if with_topics else [None] * 3
    for number, (by_words, in_space, likelihood) in enumerate(zip(*parts, likelihoods, strict=True)):
        weights = WITH_TOPICS if with_topics else WITHOUT_TOPICS
        wanted = reference.hybrid_scores(by_words, in_space, likelihood, allowed, *weights, CANDIDATES)
        assert_allclose(found[number, allowed], wanted[allowed], atol=2e-4)


def test_nothing_recompiles_on_other_kinds_of_input(tmp_path):
    corpus = Corpus.from_texts(random_texts(0, n_documents=1500))
    index = Index.build(corpus, LDA(3, max_iter=3, random_state=0).fit(corpus), path=tmp_path / "index")
    compiled = [value for value in vars(kernels).values() if hasattr(value, "signatures")]

    def use(index, k, where=None):
        for by in ("bm25", "cosine", "hybrid"):
            index.rank(index.read(["word1 word2", "several word3"]), k, by=by, where=where)

    use(index, 1)
    before = [len(function.signatures) for function in compiled]
    index.add(["word1 in another segment"])
    for opened in (index, Index.open(tmp_path / "index")):
        for k in (100, 5000):
            use(opened, k)
            use(opened, k, {"id": ["3", "9"]})
    assert [len(function.signatures) for function in compiled] == before
    assert len(kernels.best_scores.signatures) == 1

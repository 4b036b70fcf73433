"""Search by words in common on dense arrays, and the fusion of scores, written for reading.

Counts are (d, v), queries (q, v), scores (q, d), or (d,) where one query is enough.
"""

import numpy as np


def bm25_weights(counts, lengths, rarity, mean_length, saturation, normalization):
    """What each word adds to the score of each document."""
    sizes = saturation * (1 - normalization + normalization * lengths / mean_length)
    return rarity * counts / (counts + sizes[:, None])


def bm25_scores(counts, queries, saturation=1.5, normalization=0.75):
    """BM25, as Lucene has it."""
    lengths, met = counts.sum(axis=1), (counts > 0).sum(axis=0)
    rarity = np.log(1 + (len(counts) - met + 0.5) / (met + 0.5))
    return queries @ bm25_weights(counts, lengths, rarity, lengths.mean(), saturation, normalization).T


def cosines(one, other):
    """Cosines of rows; zero where one of them is empty."""
    return unit(one) @ unit(other).T


def unit(rows):
    sizes = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(sizes > 0, sizes, 1)


def tfidf(counts, of_documents):
    """Counts, weighted by how rare words are in documents; a word that none of them has is as none."""
    met = (of_documents > 0).sum(axis=0)
    return counts * np.where(met > 0, np.log(len(of_documents) / np.maximum(met, 1)) + 1, 0)


def best_scores(scores, k, least=-np.inf, allowed=None):
    """Numbers of the k best documents above the least, and their scores; of equal ones the first."""
    order = np.argsort(-scores, kind="stable")
    wanted = [d for d in order if scores[d] > least and (allowed is None or allowed[d])][:k]
    return np.array(wanted, dtype=int), scores[wanted]


def scaled(scores, allowed):
    """0 for the mean of the documents that are wanted, 1 for the largest; nothing where all are the same."""
    mean, largest = scores[allowed].mean(), scores[allowed].max()
    return (scores - mean) / (largest - mean) if largest > mean else np.zeros_like(scores)


def hybrid_scores(by_words, in_space, likelihoods, allowed, of_space, of_topics, candidates):
    """Words and space, both scaled; to the best of these, how much more likely they make the query than the least likely."""
    scores = scaled(by_words, allowed) + of_space * scaled(in_space, allowed)
    if likelihoods is None:
        return scores
    best, _ = best_scores(scores, candidates, allowed=allowed)
    chosen = likelihoods[best]
    if chosen.max() > chosen.mean():
        scores[best] += of_topics * (chosen - chosen.min()) / (chosen.max() - chosen.mean())
    return scores

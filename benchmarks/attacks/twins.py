"""What was accepted must be computed rightly: results beside those of the slow twins in tests/reference, on the same arrays.

The arrays are loaded by plain NumPy from the mutated directory, so that the twins do not see them through the package.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

sys.path.append(str(Path(__file__).parents[2] / "tests"))

from benchmarks.attacks.fixtures import MORE, QUERY
from benchmarks.attacks.outcomes import NotComparableError
from benchmarks.attacks.sealing import arrays_of, data_folder, parts_of, read_manifest
from reference.cvb0 import cvb0_dense
from reference.lsa import weighted
from reference.plsa import em_dense, fold_in_dense
from reference.postings import bm25_weights, unit
from reference.variational import vb_dense

PASSES, SETTLED = 200, 1e-4
"""Folding in ends after so many passes, or when no topic moves by more; of variational Bayes, no larger share of the words."""


def plainly(path: Path) -> dict[str, Any]:
    """Load what a directory holds by plain NumPy and Arrow: arrays, tables and facts."""
    arrays: dict[str, Any] = arrays_of(path)
    for file in data_folder(path).glob("*.arrow"):
        with pa.OSFile(str(file)) as source:
            arrays[file.stem] = pa.ipc.open_file(source).read_all()
    return arrays | {"facts": read_manifest(path)["facts"]}


def unlike(what: str, found: Any, wanted: Any, rtol: float = 1e-5, atol: float = 1e-8) -> str | None:
    """Say how two arrays differ, if they do."""
    found, wanted = np.asarray(found, np.float64), np.asarray(wanted, np.float64)
    if found.shape != wanted.shape:
        return f"{what}: shape {found.shape}, expected {wanted.shape}"
    if np.allclose(found, wanted, rtol, atol, equal_nan=True):
        return None
    if not np.isfinite(wanted).all():
        raise NotComparableError("the twin's numbers are not finite")
    return f"{what}: differs by {np.max(np.abs(found - wanted))}, of {np.max(np.abs(wanted))}"


def _first(*differences: str | None) -> str | None:
    return next((one for one in differences if one), None)


def _check_finite(*arrays: Any) -> None:
    if not all(np.isfinite(np.asarray(array, np.float64)).all() for array in arrays):
        raise NotComparableError("not all numbers are finite")


# --- corpora ---------------------------------------------------------------------------------------------------------------


def dense_rows(ends: Any, words: Any, counts: Any, n_words: int) -> Any:
    """Add up entries in a dense matrix, one after the other; what lies outside of it is an error."""
    ends, words, counts = ends.astype(np.int64), words.astype(np.int64), counts.astype(np.float64)
    if ends.ndim != 1 or ends[0] != 0 or ends[-1] != len(words) or len(words) != len(counts) or np.any(np.diff(ends) < 0):
        raise ValueError("these are no rows")
    if len(words) and (words.min() < 0 or words.max() >= n_words):
        raise IndexError("a word is out of range")
    dense = np.zeros((len(ends) - 1, n_words), np.float64)
    np.add.at(dense, (np.repeat(np.arange(len(ends) - 1), np.diff(ends)), words), counts)
    return dense


def corpus(path: Path, opened: Any, counts: Any) -> str | None:
    """Compare counts and sizes."""
    known = plainly(path)
    n_words = known["vocabulary"].num_rows
    wanted = dense_rows(known["ends"], known["words"], known["counts"], n_words)
    _check_finite(wanted)
    sizes = [opened.n_documents, opened.n_words, opened.n_tokens, len(opened.ids)]
    return _first(
        unlike("counts", counts, wanted),
        unlike("sizes", sizes, [len(wanted), n_words, wanted.sum(), len(wanted)]),
    )


def em_step(opened: Any, one: Any, two: Any) -> str | None:
    """Compare an iteration of EM."""
    counts = opened.counts.toarray().astype(np.float64)
    _check_finite(counts, one.components_)
    theta, expected, _ = em_dense(counts, one.doc_topics_, one.components_.T)
    topics = expected / np.where(expected.sum(axis=0) > 0, expected.sum(axis=0), 1)
    return _first(unlike("documents", two.doc_topics_, theta, 1e-6), unlike("topics", two.components_.T, topics, 1e-6))


def cvb0_step(opened: Any, one: Any, two: Any) -> str | None:
    """Compare a pass of CVB0."""
    counts = opened.counts.toarray().astype(np.float64)
    _check_finite(counts, one.components_)
    alpha, eta, sizes = one.alpha_, one.eta_, np.asarray(one.topic_sizes_)[0]
    rows, topics = one.doc_topics_ * (counts.sum(axis=1, keepdims=True) + alpha.sum()), one.components_.T * sizes
    documents, words, _ = cvb0_dense(counts, rows, topics, np.broadcast_to(sizes, topics.shape), alpha, eta)
    theta, topics = documents + alpha, words + eta
    return _first(
        unlike("documents", two.doc_topics_, theta / theta.sum(axis=1, keepdims=True), 1e-6),
        unlike("topics", two.components_.T, topics / topics.sum(axis=0), 1e-6),
    )


def finite(opened: Any, array: Any) -> str | None:
    """See that finite counts gave finite numbers."""
    _check_finite(opened.counts.data)
    return None if np.isfinite(array).all() else "not all numbers are finite"


def rows_sum_to_one(opened: Any, array: Any) -> str | None:
    """See that rows are distributions."""
    return finite(opened, array) or unlike("sums", array.sum(axis=1), np.ones(len(array)), 1e-3)


def built(opened: Any) -> str | None:
    """See that what was built of a source makes sense."""
    counts, rows = opened.counts, opened.rows
    dense_rows(rows.ends, rows.words, rows.counts, opened.n_words)
    if not np.isfinite(counts.data).all() or np.any(counts.data < 0):
        return "counts are negative, or not finite"
    return "ids are not unique" if opened.ids.n_unique() != opened.n_documents else None


# --- models ----------------------------------------------------------------------------------------------------------------


def words_of(known: dict[str, Any]) -> list[tuple[str, str]]:
    """List words with their languages."""
    table = known["vocabulary"]
    of_word = table["language"].to_pylist() if "language" in table.column_names else [""] * table.num_rows
    return list(zip(table["word"].to_pylist(), of_word, strict=True))


def counted(texts: Any, words: list[tuple[str, str]]) -> Any:
    """Count the words of texts, plainly."""
    by_language = [text if isinstance(text, dict) else {words[0][1]: text} for text in texts]
    return np.array([[text.get(code, "").split().count(word) for word, code in words] for text in by_language], np.float64)


def _asked(words: list[tuple[str, str]]) -> Any:
    """Count the words of the query, which is English where words have languages."""
    return counted([{"en" if words[0][1] else "": QUERY}], words)


def transformed(fixture: str, path: Path, new: Any, found: Any) -> str | None:
    """Compare what a model finds of new documents."""
    known = plainly(path)
    facts, fitted = known["facts"], known["facts"]["fitted"]
    if "topics" not in known:
        raise NotComparableError("labels are folded in otherwise")
    counts = new if isinstance(new, np.ndarray) else counted(new, words_of(known))
    _check_finite(counts, *(known[name] for name in ("topics", "topic_shares", "alpha", "word_weights") if name in known))
    topics = known["topics"].astype(np.float64)
    if facts["model"] == "LSA":
        return unlike("vectors", found, projected(counts, known, facts["settings"].get("weighting", "hellinger")), 1e-3, 1e-5)
    if facts["model"] == "PLSA":
        shares = known["topic_shares"].astype(np.float64)
        wanted = fold_in(counts, topics, shares, np.zeros_like(shares), fitted.get("tempering_", 1.0), shares)
    elif facts["settings"].get("inference", "cvb0") == "vb":
        wanted = inferred(counts, topics * known["topic_sizes"], known["alpha"])
    else:
        alpha = known["alpha"].astype(np.float64)
        wanted = fold_in(counts, topics, alpha / alpha.sum(), alpha)
    return unlike("topics of documents", found, wanted, 1e-2, 5e-3)


def fold_in(counts: Any, topics: Any, start: Any, prior: Any, beta: float = 1.0, shares: Any = 1.0) -> Any:
    """Fold in each document by the twin, pass by pass until it settles."""
    rows = []
    for row in counts:
        theta = start[None]
        for _ in range(PASSES):
            before, theta = theta, fold_in_dense(row[None], topics, theta, prior, 1, beta, shares)
            if np.max(np.abs(theta - before)) <= SETTLED:
                break
        rows.append(theta[0])
    return np.array(rows)


def inferred(counts: Any, lam: Any, alpha: Any) -> Any:
    """Infer each document by the twin of variational Bayes, pass by pass until it settles."""
    rows, languages = [], np.zeros(len(lam), int)
    for row in counts:
        gamma = alpha + np.full((1, len(alpha)), row.sum() / len(alpha))
        for _ in range(PASSES):
            before, (_, gamma, _) = gamma, vb_dense(row[None], gamma, lam, alpha, languages, 1)
            if np.abs(gamma - before).sum() <= SETTLED * row.sum():
                break
        rows.append(gamma[0] / gamma.sum())
    return np.array(rows)


def projected(counts: Any, known: dict[str, Any], weighting: str) -> Any:
    """Project documents by the formula of their weighting."""
    if weighting == "hellinger":
        lengths = counts.sum(axis=1, keepdims=True)
        rows = weighted(counts, weighting) * np.sqrt(counts.sum() / np.where(lengths > 0, lengths, counts.sum()))
        return rows @ known["topics"]
    values = np.log1p(counts) * known["word_weights"]
    return unit(values) @ known["topics"]


def label_words(path: Path, table: Any) -> str | None:
    """Compare P(word | label) with the formula, on a dense table."""
    known = plainly(path)
    facts = known["facts"]
    if facts["model"] == "OnlineLabeledLDA":
        counts, eta = _mean_of_particles(known), facts["settings"]["eta"]
        sizes = counts.sum(axis=1)
    else:
        ends, eta, sizes = known["pair_ends"], facts["eta"], known["label_sizes"].astype(np.float64)
        counts = dense_rows(ends, known["pair_labels"], known["pair_counts"], len(sizes)).T
    _check_finite(counts, sizes)
    wanted = (counts + eta) / np.maximum(sizes + counts.shape[1] * eta, 1e-300)[:, None]
    return unlike("components", table, wanted, 1e-4, 1e-6)


def _mean_of_particles(known: dict[str, Any]) -> Any:
    """Add up pairs, and how particles differ in them, in the mean of all."""
    logs = known["particle_logs"]
    weights = np.exp(logs - logs.max())
    of_pair = known["pair_counts"].astype(np.float64)
    np.add.at(of_pair, known["row_pairs"], known["row_differences"] @ (weights / weights.sum()))
    counts = np.zeros((len(known["label_sizes"]), known["facts"]["fitted"]["n_features_in_"]))
    if np.any(known["pair_labels"] < 0) or np.any(known["pair_words"] < 0):
        raise IndexError("a pair is out of range")
    np.add.at(counts, (known["pair_labels"], known["pair_words"]), np.maximum(of_pair, 0))
    return counts


# --- indexes and checkpoints -----------------------------------------------------------------------------------------------


def searched(path: Path, index: Any, by: str, found: Any) -> str | None:
    """Compare the scores of a search."""
    scores = {hit.id: hit.score for hit in found}
    if by not in ("bm25", "lsa"):
        if np.isfinite(list(scores.values())).all():
            raise NotComparableError("only that scores are finite is known")
        return "scores are not finite"
    parts = {role: plainly(part) for role, part in parts_of(path).items()}
    segments = [known for role, known in parts.items() if role.startswith("segments")]
    alive = [parts["."][f"alive_{number}"] for number in range(len(segments))]
    wanted = _by_words(segments, alive) if by == "bm25" else _in_space(segments, alive, parts["models.0"])
    _check_finite(list(wanted.values()))
    if scores.keys() != wanted.keys():
        return f"found {len(scores)} documents, expected {len(wanted)}: {sorted({*scores} ^ {*wanted}, key=str)[:5]}"
    return unlike("scores", [scores[one] for one in wanted], list(wanted.values()), 1e-3, 1e-5)


def _by_words(segments: list[dict[str, Any]], alive: list[Any]) -> dict[str, float]:
    """Score documents by BM25: counts are those of the postings, lengths those of the rows."""
    words = list(dict.fromkeys(word for known in segments for word in words_of(known)))
    place = {word: number for number, word in enumerate(words)}
    counts, met, lengths = [], np.zeros(len(words)), []
    for known, kept in zip(segments, alive, strict=True):
        mine = [place[word] for word in words_of(known)]
        rows = dense_rows(known["ends"], known["words"], known["counts"], len(mine))
        posted = dense_rows(known["posting_ends"], known["posting_documents"], known["posting_counts"], len(rows)).T
        met[mine] += np.diff(known["posting_ends"])
        for deleted in np.flatnonzero(~kept):
            np.subtract.at(met, np.array(mine)[known["words"][known["ends"][deleted] : known["ends"][deleted + 1]]], 1)
        of_all = np.zeros((len(rows), len(words)))
        of_all[:, mine] = posted
        counts.append(of_all)
        lengths.append(rows.sum(axis=1))
    allowed, of_document = np.concatenate(alive), np.concatenate(lengths)
    n_documents = np.count_nonzero(allowed)
    rarity = np.log(1 + (n_documents - met + 0.5) / (met + 0.5))
    weights = bm25_weights(np.concatenate(counts), of_document, rarity, of_document[allowed].mean(), 1.5, 0.75)
    scores = np.nan_to_num(weights) @ _asked(words)[0]
    return {one: score for one, score, wanted in zip(_ids(segments), scores, allowed, strict=True) if wanted and score > 0}


def _in_space(segments: list[dict[str, Any]], alive: list[Any], space: dict[str, Any]) -> dict[str, float]:
    """Score documents by their cosines with the place of the query."""
    words = words_of(space)
    query = unit(projected(_asked(words), space, space["facts"]["settings"]["weighting"]))
    if not query.any():  # nothing is near a query of which the space knows no word
        return {}
    vectors, allowed = np.concatenate([known["vectors_space"] for known in segments]), np.concatenate(alive)
    scores = vectors.astype(np.float64) @ query[0]
    return {one: score for one, score, wanted in zip(_ids(segments), scores, allowed, strict=True) if wanted}


def _ids(segments: list[dict[str, Any]]) -> list[str]:
    return [one for known in segments for one in known["documents"]["id"].to_pylist()]


def resumed(name: str, opened: Any, path: Path, model: Any) -> str | None:
    """Compare the iterations since a checkpoint, where there is a twin that takes it up."""
    known = plainly(path)
    _check_finite(*(array for array in known.values() if isinstance(array, np.ndarray)))
    if not np.isfinite(model.components_).all():
        return "not all numbers are finite"
    if name != "plsa":
        raise NotComparableError("only that numbers are finite is known")
    counts = opened.counts.toarray().astype(np.float64)
    theta, topics = known["theta-000000"], known["state-topics"]
    for _ in range(MORE - len(known["facts"]["history"])):
        theta, expected, _ = em_dense(counts, theta, topics)
        topics = expected / expected.sum(axis=0)
    return _first(unlike("documents", model.doc_topics_, theta, 1e-6), unlike("topics", model.components_.T, topics, 1e-6))

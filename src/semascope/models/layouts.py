"""File layouts of models. Imports are light: the explorer reads layouts before it loads models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from semascope.corpus.build.disk import LANGUAGES, VOCABULARY
from semascope.storage import Layout
from semascope.storage.facts import Fact, Flag, ListOf, Maybe, Number, Plain, Record, Text, Whole
from semascope.storage.layout import (
    MAX_COUNT,
    SLACK,
    Array,
    AxisOf,
    Column,
    InFacts,
    Source,
    Table,
    indices,
    numbers,
    pointers,
    probabilities,
)

SUM, MEAN, LOGSUMEXP = "sum", "mean", "logsumexp"
"""Reductions over the entries of merged topics."""


@dataclass(frozen=True)
class TopicArray(Array):
    """Declaration of an array with topics along every axis "n_topics".

    merge        reduction over merged topics along each of these axes: sum, mean weighted by topic shares, or log-sum-exp
    sums_to_one  whether the last axis is normalized, also after topics are removed
    """

    merge: str = SUM
    sums_to_one: bool = False

    @property
    def topic_axes(self) -> tuple[int, ...]:
        """Axes of size "n_topics"."""
        return tuple(axis for axis, size in enumerate(self.shape or ()) if size == "n_topics")

    @property
    def is_additive_over_topics(self) -> bool:
        """Whether the entries of merged topics are summed."""
        return self.merge == SUM


def over_topics(array: Array, merge: str, *, sums_to_one: bool = False) -> TopicArray:
    """Create the declaration of an array over topics with a reduction for merged topics."""
    settings = {part.name: getattr(array, part.name) for part in fields(Array)}
    return TopicArray(**settings, merge=merge, sums_to_one=sums_to_one)


def additive_over_topics(array: Array, *, sums_to_one: bool = False) -> TopicArray:
    """Create the declaration of an array whose entries are summed when topics are merged."""
    return over_topics(array, SUM, sums_to_one=sums_to_one)


PATH = ListOf(ListOf(Number(finite=False), low=2, high=3))
"""Measurements with their positions."""

_SPLIT = Record({"path": Maybe(Text()), "fingerprint": Text(), "heldout": Number(0, 1), "seed": Whole()})

FITTED: Mapping[str, Fact] = {
    "n_iter_": Whole(),
    "stopped_by_": Text(),
    "n_features_in_": Whole(1, 2**31 - 1),
    "corpus_": Record({"fingerprint": Text(), "path": Maybe(Text())}, {"split_from": _SPLIT}),
}
"""Fitted attributes that all models save in the manifest."""

TOPIC_ARRAYS: Mapping[str, Array] = {
    "topic_shares_": additive_over_topics(probabilities("n_topics"), sums_to_one=True),
    "doc_topics_": additive_over_topics(probabilities("n_documents", "n_topics"), sums_to_one=True),
}
"""Fitted attributes that topic models save as arrays."""

_SETTING = Array(
    ("float16", "float32", "float64", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))), None
)

KIND = Layout("model", 2, facts=Record({"model": Text()}))
"""Minimal layout for reading the class of a saved model."""

MODEL = Layout(
    kind="model",
    version=2,  # since 2, words may have languages
    facts=Record(
        {"model": Text(), "analyzer": Plain(), "fitted": Record(FITTED), "settings": Record(others=Plain())},
        optional={"languages": LANGUAGES, "topic_names": ListOf(Maybe(Text()))},
    ),
    dimensions={"n_words": InFacts(("fitted", "n_features_in_"))},
    arrays={"setting_*": _SETTING},
    tables={"vocabulary": VOCABULARY},
)
"""Common part of all layouts."""

_TOPICS = MODEL.also(dimensions={"n_topics": AxisOf("topics", 1, least=1), "n_documents": AxisOf("doc_topics")})


def topic_layout(arrays: Mapping[str, Array] = TOPIC_ARRAYS) -> Layout:
    """Build the layout of a topic model with the given arrays."""
    return _TOPICS.also(arrays={"topics": probabilities("n_words", "n_topics"), **named(arrays)})


def space_layout(arrays: Mapping[str, Array]) -> Layout:
    """Build the layout of a model whose components are unit vectors."""
    vectors = numbers("n_words", "n_topics", low=-1 - SLACK, high=1 + SLACK)
    dimensions = {"n_topics": AxisOf("topics", 1, least=1), "n_documents": AxisOf("doc_vectors")}
    return MODEL.also(dimensions=dimensions, arrays={"topics": vectors, **named(arrays)})


def named(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return declarations by file name instead of attribute name."""
    return {name.rstrip("_"): array for name, array in arrays.items()}


LABEL_ARRAYS: Mapping[str, Array] = {"label_documents_": numbers("n_labels", low=0, dtypes=("int64",))}
"""Fitted attributes that label models save as arrays."""

_LABELS = MODEL.also(
    facts={"label_form": Text(("lists", "one", "one number", "indicator")), "calibration": ListOf(Number(), 5, 5)},
    dimensions={"n_labels": AxisOf("label_documents"), "n_pairs": AxisOf("pair_labels")},
    tables={"labels": Table("n_labels", {"label": Column()})},
)


def label_layout(arrays: Mapping[str, Array]) -> Layout:
    """Build the layout of a label model with the given arrays."""
    pairs = {
        "pair_ends": pointers("n_words", "n_pairs"),
        "pair_labels": indices("n_pairs", "n_topics", rows="pair_ends"),
        "pair_counts": numbers("n_pairs", low=0.0, high=MAX_COUNT, dtypes=("float64",)),
        "label_sizes": numbers("n_topics", low=0.0, high=MAX_COUNT, dtypes=("float64",)),
    }
    facts, dimensions = {"eta": Number(0)}, {"n_topics": AxisOf("label_sizes", least=1)}
    return _LABELS.also(facts=facts, dimensions=dimensions, arrays={**pairs, **named(arrays)})


def online_label_layout(
    arrays: Mapping[str, Array], dimensions: Mapping[str, Source], particles: Mapping[str, Array]
) -> Layout:
    """Build the layout of an online label model."""
    return _LABELS.also(facts={"from_texts": Flag()}, dimensions=dimensions, arrays={**particles, **named(arrays)})

"""Labels of documents as numbers, the input of the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from semascope.corpus.shards import Shard, ShardRef, as_read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LabelRows(NamedTuple):
    """Documents as rows of label numbers, ascending in each row.

    ends     int64[d + 1]   row i is [ends[i]:ends[i + 1]] of the other
    numbers  int32[m]
    """

    ends: NDArray[np.int64]
    numbers: NDArray[np.int32]

    def part(self, first: int, last: int) -> LabelRows:
        """Return the rows of documents `first` to `last`."""
        ends = self.ends[first : last + 1]
        return LabelRows(as_read_only(ends - ends[0], np.int64), self.numbers[ends[0] : ends[-1]])

    def chosen(self, documents: NDArray[Any]) -> LabelRows:
        """Return the rows of some documents, by number."""
        lengths = np.diff(self.ends)[documents]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(self.ends[documents] - ends[:-1], lengths) + np.arange(ends[-1])
        return LabelRows(as_read_only(ends, np.int64), as_read_only(self.numbers[places], np.int32))

    def below(self, n: int) -> LabelRows:
        """Return the rows without labels from number `n` on."""
        kept = self.numbers < n
        return LabelRows(
            as_read_only(np.concatenate([[0], np.cumsum(kept)])[self.ends], np.int64),
            as_read_only(self.numbers[kept], np.int32),
        )

    def with_more(self, first: int, n: int) -> LabelRows:
        """Add labels `first` to `first + n`, larger than all existing ones, to every document."""
        return self._filled(np.full(len(self.ends) - 1, n), first)

    def opened(self, n: int) -> LabelRows:
        """Assign the first `n` labels to documents that have none."""
        return self._filled(np.where(np.diff(self.ends) == 0, n, 0), 0)

    def _filled(self, added: NDArray[np.int64], first: int) -> LabelRows:
        """Append `added` labels to each row, numbered from `first` on."""
        if not added.any():
            return self
        before = np.cumsum(added) - added
        own = np.repeat(before, np.diff(self.ends)) + np.arange(len(self.numbers))
        numbers = np.empty(len(self.numbers) + int(added.sum()), np.int32)
        is_own = np.zeros(len(numbers), np.bool_)
        is_own[own] = True
        numbers[own] = self.numbers
        numbers[~is_own] = first + np.arange(int(added.sum())) - np.repeat(before, added)
        ends = self.ends + np.concatenate([[0], np.cumsum(added)])
        return LabelRows(as_read_only(ends, np.int64), as_read_only(numbers, np.int32))


def names_in(labels: pl.Series) -> list[str]:
    """Return the names of labels in order of first appearance; empty names are ignored."""
    return [name for name in labels.explode().drop_nulls().unique(maintain_order=True).to_list() if name]


def rows_of_labels(labels: pl.Series, names: Sequence[str]) -> LabelRows:
    """Return the labels of each document by number; labels not in `names` and repeated ones are dropped.

    Examples
    --------
    >>> rows = rows_of_labels(pl.Series([["b", "a", "b"], [], ["c", ""]]), ["a", "b"])
    >>> rows.ends.tolist(), rows.numbers.tolist()
    ([0, 2, 2, 2], [0, 1])
    """
    known = pl.DataFrame({"labels": pl.Series(names, dtype=pl.String), "number": np.arange(len(names), dtype=np.int32)})
    table = labels.rename("labels").to_frame().with_row_index("document").explode("labels")
    found = table.join(known, on="labels", how="inner").select("document", "number").unique().sort("document", "number")
    counts = np.bincount(found["document"].to_numpy(), minlength=len(labels))
    ends = np.concatenate([[0], np.cumsum(counts)])
    return LabelRows(as_read_only(ends, np.int64), as_read_only(found["number"].to_numpy(), np.int32))


@dataclass(frozen=True, eq=False)
class LabeledShard(Shard):
    """A shard with the labels of its documents."""

    labels: LabelRows


@dataclass(frozen=True, eq=False)
class LabeledRef:
    """Reference to a shard, with the labels of its documents."""

    shard: ShardRef
    labels: LabelRows

    @property
    def number(self) -> int:
        return self.shard.number

    @property
    def first_document(self) -> int:
        return self.shard.first_document

    @property
    def n_documents(self) -> int:
        return self.shard.n_documents

    def open(self) -> LabeledShard:
        """Open the shard."""
        opened = self.shard.open()
        return LabeledShard(opened.number, opened.first_document, opened.n_words, opened.rows, self.labels)


def label_shards(shards: Sequence[ShardRef], labels: LabelRows) -> list[LabeledRef]:
    """Attach the labels of its documents to each shard."""
    firsts = [shard.first_document for shard in shards]
    return [
        LabeledRef(shard, labels.part(first, first + shard.n_documents)) for shard, first in zip(shards, firsts, strict=True)
    ]

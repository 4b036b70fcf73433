"""Manual topic editing: renaming, merging and removal."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self, TypeVar

import numpy as np

from semascope.errors import InputError
from semascope.models.layouts import LOGSUMEXP, MEAN, SUM, TopicArray
from semascope.models.sklearn_imports import ClassNamePrefixFeaturesOutMixin, check_is_fitted, clone
from semascope.models.topic_names import name_problem, shown_names

if TYPE_CHECKING:
    from numpy.typing import NDArray


Topic = int | str
"""Index or name of a topic."""

Model = TypeVar("Model")


class Merge(NamedTuple):
    """Topics to merge, and the name of the result; by default, the first name among the topics."""

    topics: Sequence[Topic]
    name: str | None = None


class Plan(NamedTuple):
    """Plan of an edit.

    groups  old topics that form each new topic
    names   name of each new topic, or None
    """

    groups: list[list[int]]
    names: list[str | None]


def plan_edit(
    names: Sequence[str | None],
    rename: Mapping[Topic, str | None] | None = None,
    merge: Sequence[Merge] = (),
    remove: Iterable[Topic] = (),
) -> Plan:
    """Build and validate the plan of an edit.

    Examples
    --------
    >>> plan_edit([None, "cars", None, None], {0: "space"}, [Merge([3, "cars"])], [2])
    Plan(groups=[[0], [3, 1]], names=['space', 'cars'])
    """
    rename = rename or {}
    renamed = dict(zip(_numbers(names, rename), rename.values(), strict=True))
    groups = [_numbers(names, one.topics) for one in merge]
    removed = _numbers(names, remove)
    _check_applicable(len(names), renamed, groups, removed)
    names = [renamed.get(topic, name) for topic, name in enumerate(names)]
    merged = {min(group): (group, one.name) for group, one in zip(groups, merge, strict=True)}
    dropped = {*removed, *chain(*groups)} - set(merged)
    plan = Plan([], [])
    for topic in (topic for topic in range(len(names)) if topic not in dropped):
        group, name = merged.get(topic, ([topic], None))
        plan.groups.append(group)
        plan.names.append(name if name is not None else next((names[z] for z in group if names[z] is not None), None))
    _check_names(plan.names)
    return plan


def apply_edits(model: Model, plan: Plan) -> Model:
    """Return an edited copy of a fitted model; unchanged attributes are shared."""
    new: Any = clone(model)
    vars(new).update({name: value for name, value in vars(model).items() if name not in vars(new)})
    new._topic_names = plan.names
    if all(group == [topic] for topic, group in enumerate(plan.groups)) and len(plan.groups) == len(new.topic_shares_):
        return new  # type: ignore[no-any-return]
    shares, declared = new.topic_shares_, _over_topics(new)
    new.components_ = _means(new.components_.T, plan.groups, shares).T  # a column is a topic
    for name, array in declared.items():
        setattr(new, name, merged_array(getattr(new, name), array, plan.groups, shares))
    if sum(map(len, plan.groups)) < len(shares):
        _normalize_rows(new.topic_shares_, np.full(len(plan.groups), 1 / len(plan.groups)))
        for name in (name for name, array in declared.items() if array.sums_to_one and name != "topic_shares_"):
            # A document without remaining topics gets the shares of the corpus.
            _normalize_rows(getattr(new, name), new.topic_shares_)
    return new  # type: ignore[no-any-return]


def _over_topics(model: Any) -> dict[str, TopicArray]:
    """Return the arrays over topics of a model; each must declare how merging changes it."""
    declared = {name: array for name, array in model.saved_arrays.items() if "n_topics" in (array.shape or ())}
    if silent := [name for name, array in declared.items() if not isinstance(array, TopicArray)]:
        msg = f"{type(model).__name__}.saved_arrays: {silent[0]} does not declare how to merge topics; use over_topics()."
        raise TypeError(msg)
    return declared


# --- validation ---------------------------------------------------------------------------------------------------------


def _numbers(names: Sequence[str | None], topics: Iterable[Topic]) -> list[int]:
    """Return the indices of distinct topics."""
    if isinstance(topics, str | numbers.Integral):
        _refuse(f"expected a list of topics; write [{topics!r}]")
    shown = shown_names(names, len(names))
    found = [_number(shown, topic) for topic in topics]
    for place, topic in enumerate(found):
        if topic in found[:place]:
            _refuse(f"topic {topic} is named twice")
    return found


def _number(shown: list[str], topic: Topic) -> int:
    if isinstance(topic, str):
        if topic not in shown:
            _refuse(f"there is no topic {topic!r}; there are {_join_names(shown)}")
        return shown.index(topic)
    if not isinstance(topic, numbers.Integral) or isinstance(topic, bool) or not 0 <= topic < len(shown):
        _refuse(f"there is no topic {topic!r}; they are numbered from 0 to {len(shown) - 1}")
    return int(topic)


def _check_applicable(n_topics: int, renamed: Iterable[int], groups: list[list[int]], removed: list[int]) -> None:
    used: set[int] = set()
    for group in groups:
        if len(group) < 2:
            _refuse(f"to merge takes two topics at least, not {len(group)}")
    for group in [*groups, removed]:
        if both := used & set(group):
            _refuse(f"topic {min(both)} cannot be merged or removed twice")
        used.update(group)
    if both := set(renamed) & set(removed):
        _refuse(f"topic {min(both)} cannot be renamed and removed")
    if len(removed) == n_topics:
        _refuse("to remove all topics would leave none")


def _check_names(names: list[str | None]) -> None:
    given = [name for name in names if name is not None]
    for place, name in enumerate(given):
        if problem := name_problem(name):
            _refuse(problem)
        if name in given[:place]:
            _refuse(f"two topics would be named {name!r}")


def _join_names(names: list[str]) -> str:
    more = len(names) - 10
    return ", ".join(map(repr, names[:10])) + (f" and {more} more" if more > 0 else "")


def _refuse(problem: str) -> NoReturn:
    msg = f"{problem}."
    raise InputError(msg)


# --- arrays --------------------------------------------------------------------------------------------------------------


def merged_array(values: NDArray[Any], array: TopicArray, groups: list[list[int]], shares: NDArray[np.float64]) -> NDArray[Any]:
    """Merge the topics of an array along each of its topic axes, as it declares.

    Examples
    --------
    >>> from semascope.models.layouts import over_topics
    >>> from semascope.storage.layout import Array
    >>> square = over_topics(Array(("float64",), ("n_topics", "n_topics")), "mean")
    >>> merged_array(np.eye(3), square, [[0, 1], [2]], np.array([0.25, 0.25, 0.5])).tolist()
    [[0.5, 0.0], [0.0, 1.0]]
    """
    for axis in array.topic_axes:
        moved = _MERGED[array.merge](np.moveaxis(np.asarray(values), axis, -1), groups, shares)
        values = np.moveaxis(moved, -1, axis)
    return values if len(array.topic_axes) == 1 else np.ascontiguousarray(values)


def _sums(values: NDArray[Any], groups: list[list[int]], shares: NDArray[np.float64]) -> NDArray[Any]:
    """Sum the entries of merged topics along the last axis."""
    new = values[..., [group[0] for group in groups]]
    for column, group in enumerate(groups):
        for topic in group[1:]:
            new[..., column] += values[..., topic]
    return new


def _means(values: NDArray[Any], groups: list[list[int]], shares: NDArray[np.float64]) -> NDArray[Any]:
    """Average the entries of merged topics along the last axis, weighted by topic shares."""
    new = values[..., [group[0] for group in groups]]
    for column, group in enumerate(groups):
        if len(group) > 1:
            new[..., column] = np.average(values[..., group], axis=-1, weights=shares[group] if shares[group].any() else None)
    return new


def _log_sums(values: NDArray[Any], groups: list[list[int]], shares: NDArray[np.float64]) -> NDArray[Any]:
    """Merge log-values of topics along the last axis by log-sum-exp."""
    new = values[..., [group[0] for group in groups]]
    for column, group in enumerate(groups):
        for topic in group[1:]:
            new[..., column] = np.logaddexp(new[..., column], values[..., topic])
    return new


_MERGED = {SUM: _sums, MEAN: _means, LOGSUMEXP: _log_sums}


def _normalize_rows(rows: NDArray[Any], instead: NDArray[np.float64]) -> None:
    """Normalize rows to sum to one, in place; replace rows that sum to zero."""
    sums = rows.sum(axis=-1, dtype=np.float64)
    rows[sums == 0] = instead
    rows /= np.where(sums == 0, 1.0, sums)[..., None]


_AT_ONCE = 512
"""Rows summed in single precision before accumulation in double precision."""

_ROUNDING = 1e-4
"""Tolerance of sums that should be one. Most of it is for summation; rounding the entries accounts for 1e-7."""


def are_distributions(topics: NDArray[Any], languages: NDArray[np.int32] | None = None) -> bool:
    """Return whether the words of each topic sum to one, separately in each language.

    topics     float[v, k]
    languages  int32[v]     language of each word; None if there is only one
    """
    for language in [None] if languages is None else np.unique(languages):
        own = topics if language is None else topics[languages == language]
        sums = np.zeros(topics.shape[1])
        for first in range(0, len(own), _AT_ONCE):
            sums += own[first : first + _AT_ONCE].sum(axis=0)
        if np.abs(sums - 1).max() > _ROUNDING:
            return False
    return True


class NamedTopics(ClassNamePrefixFeaturesOutMixin):
    """Mixin for named topics that can be edited.

    Every edit returns a new model and leaves the original unchanged. Topics are referred to by index or name. Hyperparameters
    do not change: refitting an edited model restores the original number of topics.
    """

    components_: NDArray[Any]
    _topic_names: Sequence[str | None] = ()
    """Names of the first topics; None for unnamed ones."""

    @property
    def topic_names_(self) -> list[str]:
        """Names of the topics; "topic 3" for an unnamed one."""
        check_is_fitted(self, "components_")
        return shown_names(self._topic_names, len(self.components_))

    def rename_topics(self, names: Mapping[Topic, str | None]) -> Self:
        """Return a model with renamed topics; None removes a name.

        Examples
        --------
        >>> from semascope import PLSA
        >>> model = PLSA(2, random_state=0).fit(["cats purr", "dogs bark", "cats", "dogs"])
        >>> model.rename_topics({0: "pets"}).topic_names_
        ['pets', 'topic 1']
        """
        return apply_edits(self, self._plan(rename=names))

    def merge_topics(self, topics: Sequence[Topic], *, name: str | None = None) -> Self:
        """Return a model with several topics merged into one.

        The words of the merged topic are the average of its parts, weighted by topic shares; its shares of the corpus and of
        each document are the sums. It takes the position of the first part, and later topics move up.

        Parameters
        ----------
        topics : sequence of int or str
            At least two topics.
        name : str, optional
            Name of the merged topic; by default, the first name among `topics`.

        Examples
        --------
        >>> from semascope import PLSA
        >>> model = PLSA(3, random_state=0).fit(["cats purr", "dogs bark", "birds sing"])
        >>> model.merge_topics([0, 2], name="pets").topic_names_
        ['pets', 'topic 1']
        """
        return apply_edits(self, self._plan(merge=[Merge(topics, name)]))

    def remove_topics(self, topics: Iterable[Topic]) -> Self:
        """Return a model without some topics; the proportions of the others are renormalized.

        A document with no other topics gets the shares of the corpus. Later topics move up.

        Examples
        --------
        >>> from semascope import PLSA
        >>> model = PLSA(2, random_state=0).fit(["cats purr", "dogs bark", "cats", "dogs"])
        >>> model.remove_topics([1]).doc_topics_.tolist()
        [[1.0], [1.0], [1.0], [1.0]]
        """
        return apply_edits(self, self._plan(remove=topics))

    def edit_topics(
        self,
        *,
        rename: Mapping[Topic, str | None] | None = None,
        merge: Sequence[Merge] = (),
        remove: Iterable[Topic] = (),
    ) -> Self:
        """Return a model with several edits applied at once; all topics refer to the original model.

        Parameters
        ----------
        rename : dict of topic to str or None, optional
            New names, as in `rename_topics`.
        merge : sequence of Merge
            Groups of topics to merge, as in `merge_topics`.
        remove : iterable of int or str
            Topics to remove, as in `remove_topics`.

        Examples
        --------
        >>> from semascope import PLSA
        >>> model = PLSA(3, random_state=0).fit(["cats purr", "dogs bark", "birds sing"])
        >>> model.edit_topics(rename={0: "pets"}, remove=[1]).topic_names_
        ['pets', 'topic 1']
        """
        return apply_edits(self, self._plan(rename=rename or {}, merge=merge, remove=remove))

    def _plan(self, **changes: Any) -> Plan:
        check_is_fitted(self, "components_")
        n_free = len(self.components_) - len(self._topic_names)
        return plan_edit([*self._topic_names, *[None] * n_free], **changes)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the output feature names of `transform`: topic names if any topic is named."""
        numbered: NDArray[np.object_] = super().get_feature_names_out(input_features)
        return np.array(self.topic_names_, dtype=object) if any(self._topic_names) else numbered

"""Topics changed by hand: renamed, merged and removed, all at once and all by the numbers that they had before."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

import numpy as np

from semascope.errors import InputError
from semascope.models.layouts import LOGSUMEXP, MEAN, SUM, TopicArray
from semascope.models.names import name_problem, shown_names
from semascope.models.sklearn_imports import clone

if TYPE_CHECKING:
    from numpy.typing import NDArray

Topic = int | str
"""A topic by its number or its name."""

Model = TypeVar("Model")


class Merge(NamedTuple):
    """Topics to merge, and what to call them; without a name it is that of the first that has one."""

    topics: Sequence[Topic]
    name: str | None = None


class Plan(NamedTuple):
    """What the new topics are.

    groups  of each new topic, the old ones that it is made of
    names   of each new topic, its name; None when it has none
    """

    groups: list[list[int]]
    names: list[str | None]


def plan_edit(
    names: Sequence[str | None],
    rename: Mapping[Topic, str | None] | None = None,
    merge: Sequence[Merge] = (),
    remove: Iterable[Topic] = (),
) -> Plan:
    """See what becomes of topics that have these names, or refuse what cannot be done.

    Examples
    --------
    >>> plan_edit([None, "cars", None, None], {0: "space"}, [Merge([3, "cars"])], [2])
    Plan(groups=[[0], [3, 1]], names=['space', 'cars'])
    """
    rename = rename or {}
    renamed = dict(zip(_numbers(names, rename), rename.values(), strict=True))
    groups = [_numbers(names, one.topics) for one in merge]
    removed = _numbers(names, remove)
    _see_that_it_can_be_done(len(names), renamed, groups, removed)
    names = [renamed.get(topic, name) for topic, name in enumerate(names)]
    made = {min(group): (group, one.name) for group, one in zip(groups, merge, strict=True)}
    gone = {*removed, *chain(*groups)} - set(made)
    plan = Plan([], [])
    for topic in (topic for topic in range(len(names)) if topic not in gone):
        group, name = made.get(topic, ([topic], None))
        plan.groups.append(group)
        plan.names.append(name if name is not None else next((names[z] for z in group if names[z] is not None), None))
    _see_that_names_are_good(plan.names)
    return plan


def edited(model: Model, plan: Plan) -> Model:
    """Give a copy of a fitted model with other topics; what does not change is shared with the old one."""
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
        _make_whole(new.topic_shares_, np.full(len(plan.groups), 1 / len(plan.groups)))
        for name in (name for name, array in declared.items() if array.sums_to_one and name != "topic_shares_"):
            # A document that had nothing else has what is left as the whole corpus has it.
            _make_whole(getattr(new, name), new.topic_shares_)
    return new  # type: ignore[no-any-return]


def _over_topics(model: Any) -> dict[str, TopicArray]:
    """Return the arrays of a model that change with its topics, all of which must say how."""
    declared = {name: array for name, array in model.saved_arrays.items() if "n_topics" in (array.shape or ())}
    if silent := [name for name, array in declared.items() if not isinstance(array, TopicArray)]:
        msg = f"{type(model).__name__}.saved_arrays: {silent[0]} does not declare what becomes of it when topics are merged."
        raise TypeError(msg)
    return declared


# --- what can be done ----------------------------------------------------------------------------------------------------


def _numbers(names: Sequence[str | None], topics: Iterable[Topic]) -> list[int]:
    """Give the numbers of topics, each of which may be named once."""
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
            _refuse(f"there is no topic {topic!r}; there are {_some(shown)}")
        return shown.index(topic)
    if not isinstance(topic, numbers.Integral) or isinstance(topic, bool) or not 0 <= topic < len(shown):
        _refuse(f"there is no topic {topic!r}; they are numbered from 0 to {len(shown) - 1}")
    return int(topic)


def _see_that_it_can_be_done(n_topics: int, renamed: Iterable[int], groups: list[list[int]], removed: list[int]) -> None:
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


def _see_that_names_are_good(names: list[str | None]) -> None:
    given = [name for name in names if name is not None]
    for place, name in enumerate(given):
        if problem := name_problem(name):
            _refuse(problem)
        if name in given[:place]:
            _refuse(f"two topics would be named {name!r}")


def _some(names: list[str]) -> str:
    more = len(names) - 10
    return ", ".join(map(repr, names[:10])) + (f" and {more} more" if more > 0 else "")


def _refuse(problem: str) -> NoReturn:
    msg = f"{problem}."
    raise InputError(msg)


# --- arrays --------------------------------------------------------------------------------------------------------------


def merged_array(values: NDArray[Any], array: TopicArray, groups: list[list[int]], shares: NDArray[np.float64]) -> NDArray[Any]:
    """Return an array over merged topics, as it declares: each axis of topics in turn.

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
    """Add what merged topics have; the last axis is topics."""
    new = values[..., [group[0] for group in groups]]
    for column, group in enumerate(groups):
        for topic in group[1:]:
            new[..., column] += values[..., topic]
    return new


def _means(values: NDArray[Any], groups: list[list[int]], shares: NDArray[np.float64]) -> NDArray[Any]:
    """Average what merged topics have, by their shares."""
    new = values[..., [group[0] for group in groups]]
    for column, group in enumerate(groups):
        if len(group) > 1:
            new[..., column] = np.average(values[..., group], axis=-1, weights=shares[group] if shares[group].any() else None)
    return new


def _log_sums(values: NDArray[Any], groups: list[list[int]], shares: NDArray[np.float64]) -> NDArray[Any]:
    """Add what merged topics have, of which the values are logarithms."""
    new = values[..., [group[0] for group in groups]]
    for column, group in enumerate(groups):
        for topic in group[1:]:
            new[..., column] = np.logaddexp(new[..., column], values[..., topic])
    return new


_MERGED = {SUM: _sums, MEAN: _means, LOGSUMEXP: _log_sums}


def _make_whole(rows: NDArray[Any], instead: NDArray[np.float64]) -> None:
    """Make rows sum to one again; rows of which nothing is left are replaced."""
    sums = rows.sum(axis=-1, dtype=np.float64)
    rows[sums == 0] = instead
    rows /= np.where(sums == 0, 1.0, sums)[..., None]

"""Matplotlib plots of models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.errors import InputError, MissingExtraError
from semascope.models.display.topic_map import map_radii, place_names, topic_map
from semascope.models.display.topic_view import TopicView

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semascope.models.editing import Topic

BLUE, ORANGE, INK, GRAY = "#0072B2", "#D55E00", "#222222", "#777777"
"""Color-blind safe palette (Okabe and Ito)."""
MAX_PANELS = 12
"""Default number of topics shown, largest first."""
MAX_NAMED = 60
"""Maximum number of named topics on the map."""


class Plots:
    """Mixin with plots of topics or labels."""

    def plot_topics(
        self, topics: Sequence[Topic] | Topic | None = None, n_words: int = 8, *, language: str | None = None, ax: Any = None
    ) -> Any:
        """Plot the most probable words of topics as bars; thin bars show P(word) in the corpus.

        Parameters
        ----------
        topics : topic or sequence of topics, optional
            Topics by index or name; by default, the twelve largest.
        n_words : int, default=8
            Number of words per topic.
        language : str, optional
            Language of the words in a multilingual model; by default, the first.
        ax : matplotlib Axes or sequence of them, optional
            Axes to draw on, one for each topic; by default, those of a new figure.

        Returns
        -------
        ndarray of matplotlib Axes
            One for each topic.
        """
        view = TopicView.of(self)
        selected = _select_topics(view, topics)
        panels = _create_axes(len(selected), n_words) if ax is None else np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if len(panels) != len(selected):
            msg = f"there are {len(selected)} topics to draw, but {len(panels)} axes to draw them in."
            raise InputError(msg)
        for panel, topic in zip(panels, selected, strict=True):
            _draw_words(panel, view, topic, n_words, language or view.main_language)
        return panels

    def plot_map(self, *, ax: Any = None) -> Any:
        """Plot a map on which similar topics are close, with areas proportional to topic shares.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default, those of a new figure.

        Returns
        -------
        matplotlib Axes
            The map.
        """
        view = TopicView.of(self)
        axes = _pyplot().subplots(figsize=(8, 8), layout="constrained")[1] if ax is None else ax
        places, radii = topic_map(view), map_radii(view.shares)
        _draw_circles(axes, places, radii)
        _draw_names(axes, view, places, radii)
        axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[], aspect="equal")
        axes.set_title(f"{len(view):,} {view.kind} of {type(self).__name__}", color=INK)
        for spine in axes.spines.values():
            spine.set_color("#dddddd")
        return axes

    def plot_history(self, *, ax: Any = None) -> Any:
        """Plot the objective by iteration, and held-out perplexity if it was tracked.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default, those of a new figure.

        Returns
        -------
        matplotlib Axes
            Axes of the objective; held-out perplexity is on a second y-axis.
        """
        steps, name = history_of(self)
        heldout = list(getattr(self, "heldout_path_", ()))
        if not steps and not heldout:
            msg = f"this {type(self).__name__} has no history: it was fitted to a stream, or its fit was interrupted."
            raise InputError(msg)
        axes = _pyplot().subplots(figsize=(7, 4.5), layout="constrained")[1] if ax is None else ax
        axes.set_xlabel("iteration")
        if steps:
            _draw_line(axes, range(1, len(steps) + 1), steps, BLUE, name)
        if heldout:
            iterations, _, perplexities = zip(*heldout, strict=True)
            right = axes.twinx() if steps else axes
            _draw_line(right, iterations, perplexities, ORANGE, "held-out perplexity, own prior", "o", "--")
            if steps:
                right.spines["right"].set_visible(True)
        axes.set_title(f"Fit of {type(self).__name__}", color=INK)
        return axes


def history_of(model: Any) -> tuple[list[float], str]:
    """Return the objective by iteration, if the model has it, and its name."""
    objective, steps = model.fitted_objective()
    return steps, objective.name


def _select_topics(view: TopicView, topics: Sequence[Topic] | Topic | None) -> list[int]:
    """Return the indices of the selected topics."""
    if topics is None:
        return [int(topic) for topic in np.argsort(-view.shares, kind="stable")[:MAX_PANELS]]
    listed = [topics] if isinstance(topics, str | int | np.integer) else list(topics)
    found = []
    for topic in listed:
        number = view.names.index(topic) if isinstance(topic, str) and topic in view.names else topic
        if isinstance(number, str) or not 0 <= number < len(view):
            msg = f"there is no topic {topic!r}: there are {len(view):,}, numbered from 0."
            raise InputError(msg)
        found.append(int(number))
    return found


def _create_axes(n: int, n_words: int) -> NDArray[Any]:
    """Create n axes in rows of up to four."""
    across = min(max(math.ceil(math.sqrt(n)), 1), 4)
    down = max(math.ceil(n / across), 1)
    size = (3.1 * across, (0.21 * n_words + 0.75) * down)
    figure, axes = _pyplot().subplots(down, across, figsize=size, layout="constrained", squeeze=False)
    for spare in axes.ravel()[n:]:
        spare.remove()
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    return np.asarray(axes.ravel()[:n])


def _draw_words(axes: Any, view: TopicView, topic: int, n_words: int, language: str | None) -> None:
    words = view.relevant_words(topic, 1.0, n_words, language)
    places = np.arange(len(words))
    axes.barh(places, [word.probability for word in words], color=BLUE, height=0.72)
    axes.barh(places, [word.probability / word.lift for word in words], color=ORANGE, height=0.22)
    axes.set_yticks(places, [_truncate(word.word, 18) for word in words], fontsize=9)
    axes.set_ylim(n_words - 0.4, -0.6)
    axes.set_title(f"{_truncate(view.names[topic], 26)} · {view.shares[topic]:.1%}", fontsize=10, loc="left", color=INK)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=7, colors=GRAY)
    axes.locator_params(axis="x", nbins=4)
    axes.xaxis.set_major_formatter(lambda share, _: f"{share:.3g}")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#cccccc")


def _draw_circles(axes: Any, places: NDArray[np.float64], radii: NDArray[np.float64]) -> None:
    from matplotlib.collections import EllipseCollection

    circles = EllipseCollection(
        2 * radii, 2 * radii, np.zeros(len(radii)), units="xy", offsets=places, offset_transform=axes.transData,
        facecolor=BLUE, edgecolor=BLUE, alpha=0.28, linewidth=0.8,
    )  # fmt: skip
    axes.add_collection(circles)


def _draw_names(axes: Any, view: TopicView, places: NDArray[np.float64], radii: NDArray[np.float64]) -> None:
    """Draw the names of the largest topics where they fit."""
    largest = np.argsort(-view.shares, kind="stable")[:MAX_NAMED].tolist()
    names = [(topic, tuple(_truncate(part, 24) for part in view.short_name(topic))) for topic in largest]
    for name in place_names(names, places, radii, letter=0.0112, line=0.021):
        axes.text(name.x, name.y, "\n".join(name.lines), ha="center", va="center", fontsize=8.5, color=INK, clip_on=True)


def _draw_line(
    axes: Any, x: Any, y: Sequence[float], color: str, name: str, marker: str | None = None, line: str = "-"
) -> None:
    axes.plot(x, y, color=color, marker=marker, markersize=4, linestyle=line)
    axes.set_ylabel(name, color=color)
    axes.tick_params(axis="y", colors=color)
    axes.xaxis.get_major_locator().set_params(integer=True)
    if max(map(abs, y)) >= 1000:
        axes.yaxis.set_major_formatter("{x:,.0f}")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(alpha=0.25)


def _truncate(name: str, max_length: int) -> str:
    """Truncate a name and escape mathtext."""
    short = name if len(name) <= max_length else name[: max_length - 1].rstrip() + "…"
    return short.replace("$", r"\$")


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        msg = f"drawing a picture needs matplotlib ({error}): pip install 'semascope[plot]'"
        raise MissingExtraError(msg) from None
    return pyplot

"""Plots written to files with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semascope.cli.render.terminal import MAX_NAME_LENGTH, sanitize
from semascope.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from semascope.model_selection import Suggestion, Trial

KINDS = (".png", ".svg", ".pdf")
BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "#888888"
"""Colors that color-blind readers can distinguish."""


def check_can_draw(path: Path) -> None:
    """Check before a long fit that its plot can be written afterwards."""
    if path.suffix.lower() not in KINDS:
        msg = f"{path}: expected a plot file ending in {', '.join(KINDS[:-1])} or {KINDS[-1]}."
        raise InputError(msg)
    if not path.resolve().parent.is_dir():
        msg = f"{path}: the parent directory does not exist."
        raise InputError(msg)
    if path.is_dir():
        msg = f"{path}: expected a file, but this is a directory."
        raise InputError(msg)
    _figure_class()


def draw_heldout(path: Path, steps: Sequence[Sequence[float]], title: str) -> None:
    """Plot held-out perplexity against seconds of training."""
    figure = _figure_class()(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    iterations, seconds, perplexities = zip(*steps, strict=True)
    axes.plot(seconds, perplexities, color=BLUE, marker="o", markersize=5)
    for number in {0, len(steps) - 1}:
        label = f"iteration {iterations[number]:,.0f}: {perplexities[number]:,.0f}"
        last = number == len(steps) - 1
        place = {"xytext": (4, -15), "ha": "right"} if last else {"xytext": (9, 0), "ha": "left", "va": "center"}
        axes.annotate(label, (seconds[number], perplexities[number]), textcoords="offset points", fontsize=9, **place)
    axes.set(xlabel="seconds of training", ylabel="held-out perplexity, own prior")
    axes.set_title(sanitize(title, MAX_NAME_LENGTH), parse_math=False)
    if seconds[0] > 0 and seconds[-1] / seconds[0] > 10:
        axes.set_xscale("log")
        axes.xaxis.get_major_locator().set_params(subs=(1.0, 2.0, 5.0))
        axes.xaxis.set_major_formatter("{x:g}")
    axes.margins(y=0.12)
    _tidy(axes)
    figure.savefig(path, dpi=150)


def draw_sweep(path: Path, trials: Sequence[Trial], suggestion: Suggestion, title: str) -> None:
    """Plot held-out perplexity and coherence against the number of topics, and mark the suggestion."""
    from semascope.model_selection import by_topics

    figure = _figure_class()(figsize=(10, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True)
    topics, perplexities, coherences = zip(*by_topics(trials), strict=True)
    several = len(trials) > len(topics)
    panels = [
        (left, "perplexity", perplexities, BLUE, "held-out perplexity (lower is better)"),
        (right, "coherence", coherences, ORANGE, "mean coherence, npmi (higher is better)"),
    ]
    for axes, name, means, color, label in panels:
        if several:
            values = [getattr(trial, name) for trial in trials]
            axes.scatter([trial.topics for trial in trials], values, color=color, alpha=0.35, s=18, label="one seed")
        axes.plot(topics, means, color=color, marker="o", label="mean of seeds" if several else None)
        axes.axvline(suggestion.topics, color=GRAY, linestyle="--", linewidth=1, label=f"suggested: {suggestion.topics}")
        axes.set(xlabel="topics", ylabel=label)
        if topics[-1] > 3 * topics[0]:
            axes.set_xscale("log")
        axes.set_xticks(topics, [f"{n:,}" for n in topics])
        axes.set_xticks([], minor=True)
        axes.legend(frameon=False, fontsize=9)
        _tidy(axes)
    figure.suptitle(sanitize(title, MAX_NAME_LENGTH), fontsize=12, parse_math=False)
    figure.savefig(path, dpi=150)


def _tidy(axes: Any) -> None:
    axes.grid(alpha=0.3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if max(abs(limit) for limit in axes.get_ylim()) >= 1000:
        axes.yaxis.set_major_formatter("{x:,.0f}")


def _figure_class() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        msg = f"plotting requires matplotlib ({error}); install it with: pip install 'semascope[plot]'"
        raise MissingExtraError(msg) from None
    return Figure

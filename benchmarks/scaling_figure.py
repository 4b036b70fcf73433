"""The figure of `scaling`: seconds of a sweep along each axis, and what threads and ranks bring."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from benchmarks.lda_figure import STYLES


def draw(result: Mapping[str, Any], path: Path) -> str:
    """Draw a panel for each axis and one for threads and ranks; give the name of the figure."""
    axes = result["axes"]
    figure, panels = plt.subplots(1, len(axes) + 1, figsize=(3.4 * (len(axes) + 1), 3.6), layout="constrained")
    for panel, (axis, of_systems) in zip(panels, axes.items(), strict=False):
        _lines(panel, axis, of_systems)
    panels[0].set_ylabel("milliseconds of a sweep")
    _speed_ups(panels[-1], result)
    figure.suptitle(f"A sweep of LDA (others kept {result['others']:.1f} cores busy)", fontsize=11)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return f"{path.parent.name}/{path.name}"


def _lines(panel: Axes, axis: str, of_systems: Mapping[str, Mapping[str, float]]) -> None:
    for name, found in of_systems.items():
        sizes, times = [int(size) for size in found], [1e3 * seconds for seconds in found.values()]
        panel.plot(sizes, times, markersize=4.5, **STYLES[name])
        panel.annotate(
            name, (sizes[-1], times[-1]), xytext=(0, 6), textcoords="offset points", ha="right", fontsize=8,
            color=STYLES[name]["color"],
        )  # fmt: skip
    panel.set(xscale="log", yscale="log", xlabel=axis)
    panel.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=40, ha="right", fontsize=8)
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.yaxis.set_major_formatter("{x:,g}")
    panel.margins(y=0.15)
    panel.grid(alpha=0.3)
    panel.spines[["top", "right"]].set_visible(False)


def _speed_ups(panel: Axes, result: Mapping[str, Any]) -> None:
    """Draw how many times as fast two are as one."""
    bars = [(f"{name}, {what}", STYLES[name], found) for what in ("threads", "ranks") for name, found in result[what].items()]
    for place, (name, style, found) in enumerate(bars):
        value = found["1"] / found["2"]
        panel.barh(place, value, color=style["color"], height=0.4)
        panel.annotate(f"{name}: {value:.2f}", (0, place - 0.25), va="bottom", fontsize=8, color="#333333")
    panel.axvline(2, color="black", linewidth=0.9, linestyle=":")
    panel.set(xlabel="2 threads or ranks, times as fast as 1", yticks=[])
    panel.invert_yaxis()
    panel.spines[["top", "right", "left"]].set_visible(False)

"""Figures of `labeled_online`: quality and time of a stream and of repeated fits, a column of panels for each collection."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from benchmarks.harness import DISTURBED
from benchmarks.lda_figure import STYLES

BATCH = "batch, fitted anew at each point"
LINES = (
    {"color": STYLES["semascope"]["color"], "marker": "o", "markersize": 4.5, "linewidth": 2.2, "zorder": 3},
    {"color": STYLES["BigARTM"]["color"], "marker": "D", "markersize": 4, "linestyle": "--", "linewidth": 1.2},
)
OPEN = {"color": STYLES["tomotopy"]["color"], "marker": "s", "markersize": 8, "markerfacecolor": "none", "linewidth": 1.2}
"""Large and open, for it is often where the stream is."""


def draw(collections: Mapping[str, Any], streams: tuple[str, str], path: Path) -> str:
    """Draw perplexity above and seconds below, over documents seen, of batch and two streams; give the name of the figure."""
    n = len(collections)
    figure, panels = plt.subplots(2, n, figsize=(3.9 * n + 0.8, 6.4), sharex="col", squeeze=False, layout="constrained")
    signs: dict[str, Any] = {}
    for (quality, cost), (name, found) in zip(panels.T, collections.items(), strict=True):
        curves = [
            (f"stream, {which}", found["streams"][which]["points"], line) for which, line in zip(streams, LINES, strict=True)
        ]
        for which, points, style in [(BATCH, found["batch"]["points"], OPEN), *curves]:
            documents = [point["documents"] for point in points]
            for panel, what in ((quality, "perplexity"), (cost, "seconds")):
                signs[which], *_ = panel.plot(documents, [point[what] for point in points], **style)
        quality.set_title(f"{name}\n{found['documents']:,} documents, {found['labels']} labels", fontsize=10)
        cost.set(yscale="log", xlabel="documents seen")
        _remark(cost, found["streams"][streams[0]]["points"][-1], found["batch"]["points"][-1])
        _dress(quality, cost)
    panels[0][0].set_ylabel("perplexity of held-out documents")
    panels[1][0].set_ylabel("seconds of learning so far")
    figure.legend(signs.values(), signs, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(f"Labeled LDA from a stream{_disturbance(collections)}", fontsize=11)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return f"{path.parent.name}/{path.name}"


def _remark(cost: Any, stream: Mapping[str, float], batch: Mapping[str, float]) -> None:
    """Say between the ends of two curves how far they are apart."""
    middle = (stream["seconds"] * batch["seconds"]) ** 0.5
    times = f"{batch['seconds'] / stream['seconds']:.0f} ×"
    ends = {"xy": (stream["documents"], stream["seconds"]), "xytext": (stream["documents"], batch["seconds"])}
    cost.annotate("", **ends, arrowprops={"arrowstyle": "<->", "color": "#666666", "shrinkA": 5, "shrinkB": 5})
    cost.annotate(times, (stream["documents"], middle), (-6, 0), textcoords="offset points", ha="right", va="center")


def _dress(quality: Any, cost: Any) -> None:
    thousands = FuncFormatter(lambda value, _: f"{value:,.0f}")
    quality.yaxis.set_major_formatter(thousands)
    cost.xaxis.set_major_locator(MaxNLocator(5))
    cost.xaxis.set_major_formatter(thousands)
    cost.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    cost.yaxis.set_major_formatter("{x:g}")
    cost.yaxis.set_minor_formatter(NullFormatter())
    for panel in (quality, cost):
        panel.set_xlim(left=0)
        panel.grid(alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)


def _disturbance(collections: Mapping[str, Any]) -> str:
    others = max(found["others"] for found in collections.values())
    return f" (others kept up to {others:.1f} cores busy)" if others > DISTURBED else ""

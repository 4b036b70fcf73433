"""Figures 1 to 4 of Chappelier & Eckard (2009) with the numbers of `plsi_paper`, and one beyond them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

# Okabe and Ito's colors, which color-blind people can tell apart; markers and dashes say the same without color.
STYLES = {
    "H": {"color": "#0072B2", "marker": "o"},
    "IID": {"color": "#E69F00", "marker": "x", "linestyle": "--"},
    "DFIM-H": {"color": "#009E73", "marker": "s"},
    "DFIM-IID": {"color": "#CC79A7", "marker": "+", "linestyle": "--"},
    "H w": {"color": "#56B4E9", "marker": "^"},
    "DFIM-H w": {"color": "#009E73", "marker": "v", "linestyle": "--"},
    "H z": {"color": "#000000", "marker": "."},
    "DFIM-H z": {"color": "#888888", "marker": "D", "linestyle": ":"},
    "S_KL": {"color": "#D55E00", "marker": "P"},
    "S_KL smoothed": {"color": "#E69F00", "marker": "*"},
}
NAMES = {
    "H": "$K^H$",
    "IID": "$K^{IID}$",
    "DFIM-H": "$K^{DFIM-H}$",
    "DFIM-IID": "$K^{DFIM-IID}$",
    "H w": "$K_w^H$",
    "DFIM-H w": "$K_w^{DFIM-H}$",
    "H z": "$K_z^H$",
    "DFIM-H z": "$K_z^{DFIM-H}$",
    "S_KL": "$S_{KL}$",
    "S_KL smoothed": "$S_{KL}$, smoothed",
    "BM25": "BM25",
}
LARGE_STYLES = {"plain": {"linestyle": ":"}, "β = 0.8": {"linestyle": "-"}, "β = 0.7": {"linestyle": "--"}}
plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "figure.dpi": 130})


def draw(result: Mapping[str, Any], training: str, directory: Path) -> list[str]:
    """Draw all figures; give the names of the files."""
    directory.mkdir(exist_ok=True)
    said = f"{training}; mean and standard deviation of {result['starts']} starts"
    typical = [name for name in ("TIME", "MED") if name in result["maps"]]
    figures = {
        "figure1": against_topics(result, training, list(result["maps"]), ("H", "IID", "DFIM-H", "DFIM-IID")),
        "figure2": with_published(result, training),
        "figure3": against_topics(result, training, typical, ("DFIM-H", "H", "DFIM-H w", "H w", "DFIM-H z", "H z")),
        "figure4": precision_and_recall(result["curves"], training),
        "beyond": beyond(result),
    }
    titles = {
        "figure1": f"Figure 1: $K^{{IID}}$ and $K^H$ ({said})",
        "figure2": f"Figure 2: MAP against |Z| ({said})",
        "figure3": f"Figure 3: variants of the Fisher kernel ({training})",
        "beyond": "$S_{KL}$ beyond |Z| = 128 (dotted: plain EM; solid: β = 0.8; dashed: β = 0.7)",
    }
    for name, figure in figures.items():
        if name in titles:
            figure.suptitle(titles[name], fontsize=12)
        figure.savefig(directory / f"plsi_paper_{name}.png")
        plt.close(figure)
    return [f"{directory.name}/plsi_paper_{name}.png" for name in figures]


def against_topics(result: Mapping[str, Any], training: str, collections: Sequence[str], names: Sequence[str]) -> Figure:
    """MAP of some similarities against |Z|, a panel for each collection."""
    figure, panels = _panels(collections)
    for panel, collection in zip(panels, collections, strict=False):
        for name in names:
            _line(panel, result["maps"][collection][training], name, result["topics"], STYLES[name])
        _topic_axis(panel, result["topics"], collection)
    _legend(figure, panels, {NAMES[name]: STYLES[name] for name in names})
    return figure


def with_published(result: Mapping[str, Any], training: str) -> Figure:
    """Figure 2, with BM25 and what table 2 prints: the best, S_KL at 128, and at the edge those whose |Z| it does not tell."""
    names, published = ("H", "S_KL", "DFIM-H w", "H w"), result["published"]
    figure, panels = _panels(list(result["maps"]))
    for panel, (collection, found) in zip(panels, result["maps"].items(), strict=False):
        for name in names:
            _line(panel, found[training], name, result["topics"], STYLES[name])
        panel.axhline(result["collections"][collection]["BM25"], color="#666666", linewidth=1.2)
        panel.axhline(published["BM25"][collection], color="#666666", linewidth=1.2, linestyle=":")
        hollow = {"markersize": 13, "markerfacecolor": "none", "linestyle": "none", "clip_on": False, "zorder": 4}
        for name in ("H w", "DFIM-H w"):
            panel.plot(190, published[name][collection], **{**STYLES[name], **hollow, "markersize": 8})
        panel.plot(128, published["S_KL-128"][collection], **{**STYLES["S_KL"], **hollow})
        best = published["which"][collection]
        panel.plot(published["|Z|"][collection], published["best"][collection], **{**STYLES[best], **hollow})
        _topic_axis(panel, result["topics"], collection)
    marks: dict[str, Any] = {NAMES[name]: STYLES[name] for name in names}
    marks |= {"BM25": {"color": "#666666"}, "BM25, published": {"color": "#666666", "linestyle": ":"}}
    empty = {"color": "#000000", "marker": "o", "markerfacecolor": "none", "linestyle": "none"}
    marks |= {"large, hollow: published": {**empty, "markersize": 13}, "at the edge: published,\n|Z| not told": empty}
    _legend(figure, panels, marks)
    return figure


def precision_and_recall(curves: Mapping[str, Sequence[float]], training: str) -> Figure:
    """Figure 4: curves of MED."""
    figure, panel = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
    recalls = [10 * i for i in range(11)]
    for label, curve in curves.items():
        name, _, topics = label.partition(", ")
        style = STYLES.get(name, {"color": "#666666", "linewidth": 2.2})
        panel.plot(recalls, curve, label=f"{NAMES[name]}{f', |Z| = {topics}' if topics else ''}", **style)
    panel.set(xlabel="recall, %", ylabel="interpolated precision, %", ylim=(0, None))
    panel.grid(alpha=0.3)
    panel.legend(frameon=False)
    panel.set_title(f"Figure 4: precision and recall on MED ({training})", fontsize=11)
    return figure


def beyond(result: Mapping[str, Any]) -> Figure:
    """S_KL as published and smoothed, against more topics than the paper could train."""
    figure, panels = _panels(list(result["maps"]))
    topics, names = [*result["topics"], *result["beyond"]], ("S_KL", "S_KL smoothed")
    for panel, (collection, found) in zip(panels, result["maps"].items(), strict=False):
        for training, dashes in LARGE_STYLES.items():
            for name in names:
                _line(panel, found[training], name, topics, {**STYLES[name], **dashes})
        panel.axhline(result["collections"][collection]["a topic for each"], color="#666666", linewidth=1.2)
        mark = {**STYLES["S_KL"], "markersize": 13, "markerfacecolor": "none", "linestyle": "none"}
        panel.plot(128, result["published"]["S_KL-128"][collection], **mark)
        _topic_axis(panel, topics, collection)
    marks: dict[str, Any] = {NAMES[name]: STYLES[name] for name in names}
    marks |= {"hollow: published": {**mark, "markersize": 11}, "smoothed, a topic\nfor each document": {"color": "#666666"}}
    _legend(figure, panels, marks)
    return figure


def _panels(collections: Sequence[str]) -> tuple[Figure, list[Any]]:
    """Up to three panels in a row, of which the last may be left for the legend."""
    columns = min(3, len(collections))
    rows = -(-len(collections) // columns)
    width = 3.6 * columns + (0 if rows > 1 else 2.2)
    figure, panels = plt.subplots(rows, columns, figsize=(width, 3.3 * rows + 0.5), squeeze=False, layout="constrained")
    for panel in panels.flat[len(collections) :]:
        panel.axis("off")
    return figure, list(panels.flat)


def _line(panel: Any, found: Mapping[str, Any], name: str, topics: Sequence[int], style: Mapping[str, Any]) -> None:
    every = zip(found["topics"], found["mean"][name], found["sd"][name], strict=True)
    points = [point for point in every if point[0] in topics]
    x, y, sd = zip(*points, strict=True)
    panel.errorbar(x, y, yerr=sd, markersize=5, linewidth=1.3, elinewidth=0.8, capsize=2, **style)


def _topic_axis(panel: Any, topics: Sequence[int], title: str) -> None:
    panel.set_xscale("log", base=2)
    panel.set_xticks(topics, [str(z) for z in topics], fontsize=8)
    panel.minorticks_off()
    panel.set_title(title, fontsize=10)
    panel.set(xlabel="|Z|", ylabel="MAP, %")
    panel.set_ylim(bottom=0)
    panel.grid(alpha=0.3)


def _legend(figure: Figure, panels: Sequence[Any], marks: Mapping[str, Mapping[str, Any]]) -> None:
    """Where a panel is free, or else beside them."""
    handles = [Line2D([], [], label=label, **style) for label, style in marks.items()]
    free = [panel for panel in panels if not panel.axison]
    if free:
        free[0].legend(handles=handles, loc="center", frameon=False)
    else:
        figure.legend(handles=handles, loc="outside right center", frameon=False)

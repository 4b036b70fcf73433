"""Figures 2, 3 and 5 of the paper on parallel PLSA, with the numbers of `plsa_systems`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

# Okabe and Ito's colors, which color-blind people can tell apart; markers say the same without color.
STYLES = {
    "Baseline": {"color": "#000000", "marker": "s"},
    "None": {"color": "#E69F00", "marker": "D"},
    "OpenMP": {"color": "#0072B2", "marker": "o"},
    "MPI": {"color": "#D55E00", "marker": "^"},
    "All": {"color": "#009E73", "marker": "v"},
}
plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "figure.dpi": 130})


def draw(result: Mapping[str, Any], directory: Path) -> list[str]:
    """Draw the figures of what was measured; give the names of the files."""
    directory.mkdir(exist_ok=True)
    figures = {"plsa_systems_figure3.png": cores(result["collections"])}
    if result["memory_of_systems"]:
        figures["plsa_systems_figure2.png"] = memory(result["memory_of_systems"], result["collections"])
    if result["density"]:
        figures["plsa_systems_figure5.png"] = density(result["density"])
    for name, figure in figures.items():
        figure.savefig(directory / name)
        plt.close(figure)
    return [f"{directory.name}/{name}" for name in figures]


def memory(found: Mapping[str, Any], collections: Mapping[str, Any]) -> Figure:
    """Figure 2: peak memory of a process or rank of each system, next to the formula."""
    figure, panels = plt.subplots(
        1, len(found), figsize=(11, 4.2), sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    panels = panels[0]
    for panel, (collection, systems) in zip(panels, found.items(), strict=True):
        for place, (name, system) in enumerate(systems.items()):
            panel.barh(place, system["measured"] / 1e6, color=STYLES[name.split(",")[0]]["color"], alpha=0.75, height=0.62)
            mark = panel.plot(system["formula"]["paper"] / 1e6, place, "|", color="black", markersize=19, markeredgewidth=2.2)
            panel.plot(system["formula"]["paper"] / 1e6, place, "|", color="white", markersize=19, markeredgewidth=0.8)
        facts = collections[collection]
        panel.set_title(f"{collection}\n{facts['documents']:,} × {facts['words']:,}, {facts['entries']:,} entries", fontsize=10)
        panel.grid(axis="x", alpha=0.3)
        panel.set_axisbelow(True)
    labels = [f"{name}\n(a rank)" if name in ("MPI", "All") else name.replace(", ", ",\n") for name in systems]
    panels[0].set_yticks(range(len(labels)), labels)
    panels[0].invert_yaxis()
    figure.supxlabel("memory besides the counts, MB", fontsize=10)
    signs, names = [Patch(color="#888888"), *mark], ["measured peak", "formula of the paper"]
    figure.legend(signs, names, loc="outside lower right", ncols=2, frameon=False)
    figure.suptitle(f"Figure 2: memory of each system, {facts['topics']} topics", fontsize=12)
    return figure


def cores(collections: Mapping[str, Any]) -> Figure:
    """Figure 3: time of an iteration on one and on two threads or ranks."""
    figure, panels = plt.subplots(1, len(collections), figsize=(11, 4.2), sharey=True, layout="constrained")
    for panel, (collection, facts) in zip(panels, collections.items(), strict=True):
        fits = {name: 1e3 * fit["median"] for name, fit in facts["fits"].items()}
        lines = {
            "Baseline": ([1], [fits["Baseline"]]),
            "None": ([1], [fits["None"]]),
            "OpenMP": ([1, 2], [fits["None"], fits["OpenMP"]]),
            "MPI": ([1, 2], [fits["MPI on 1"], fits["MPI"]]),
            "All": ([1, 2], [fits["All on 1"], fits["All"]]),
        }
        for name, (x, y) in lines.items():
            under = 1 if name == "None" else 2  # None is OpenMP's first point: a larger sign behind it
            panel.plot(x, y, label=name, markersize=11 if name == "None" else 6.5, zorder=under, **STYLES[name])
        panel.set_title(collection, fontsize=10)
        panel.set(yscale="log", xticks=[1, 2], xlim=(0.75, 2.25))
        panel.grid(alpha=0.3)
    _plain_ticks(panels[0].yaxis)
    panels[0].set_ylabel("time of an iteration, ms")
    figure.supxlabel("threads (OpenMP), or ranks (MPI; All: ranks of two threads each)", fontsize=10)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside right center", frameon=False)
    figure.suptitle(f"Figure 3: time against cores {_disturbed(facts['others'])}", fontsize=12)
    return figure


def density(points: list[dict[str, Any]]) -> Figure:
    """Figure 5: time of an iteration against the share of cells that are filled."""
    figure, panel = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    x = [100 * point["density"] for point in points]
    for name in ("Baseline", "None", "OpenMP"):
        panel.plot(x, [1e3 * point[name] for point in points], label=name, **STYLES[name])
    panel.set(xscale="log", yscale="log", xlabel="cells filled, %", ylabel="time of an iteration, ms")
    _plain_ticks(panel.xaxis)
    _plain_ticks(panel.yaxis)
    panel.set_xticks(x, [f"{value:.2g}" for value in x])
    panel.grid(alpha=0.3, which="major")
    figure.legend(loc="outside right center", frameon=False)
    figure.suptitle(f"Figure 5: time against density, CRAN\n{_disturbed(points[0]['others'])}", fontsize=12)
    return figure


def _disturbed(others: float) -> str:
    """What a reader must know of the machine: small differences mean nothing while others are at work."""
    return f"(medians; others kept {others:.1f} cores busy)"


def _plain_ticks(axis: Any) -> None:
    """Numbers at 1, 2, 5, 10, instead of powers of ten."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())

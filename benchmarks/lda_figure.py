"""Quality over time of the systems of `lda`: a panel for each collection, a line for each run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

# Okabe and Ito's colors, which color-blind people can tell apart; markers say the same without color.
STYLES = {
    "semascope": {"color": "#D55E00", "marker": "o", "linewidth": 2.2, "zorder": 3},
    "semascope vb": {"color": "#D55E00", "marker": "o", "linewidth": 2.2, "zorder": 3},
    "semascope vb, α learned": {"color": "#56B4E9", "marker": "X", "linewidth": 2.2, "zorder": 3},
    "tomotopy": {"color": "#0072B2", "marker": "s"},
    "BigARTM": {"color": "#009E73", "marker": "D"},
    "gensim": {"color": "#CC79A7", "marker": "^"},
    "MLlib online": {"color": "#0072B2", "marker": "s"},
    "MLlib EM": {"color": "#009E73", "marker": "D"},
    "sklearn batch": {"color": "#000000", "marker": "v"},
    "sklearn online": {"color": "#E69F00", "marker": "P"},
}


class Target(NamedTuple):
    """What is to be reached.

    peer  system whose target it is, and whose color the line has
    said  what it is called
    room  perplexities above this many times the best are left out: first steps would squeeze all that matters into a strip
    """

    peer: str
    said: str
    room: float


def draw(collections: Mapping[str, Any], topics: int, target: Target, path: Path) -> str:
    """Draw a figure, with the target of a peer for comparison; give its name."""
    width = 4.6 * len(collections) + 1.6
    figure, panels = plt.subplots(1, len(collections), figsize=(width, 4.6), squeeze=False, layout="constrained")
    signs: dict[str, Any] = {}
    for panel, (collection, found) in zip(panels[0], collections.items(), strict=True):
        for name, system in found["systems"].items():
            for run in system["runs"]:
                seconds, perplexities = zip(*((p["seconds"], p["perplexity"]) for p in run["points"]), strict=True)
                signs[name], *_ = panel.plot(seconds, perplexities, markersize=4.5, alpha=0.85, **STYLES[name])
        panel.axhline(found["systems"][target.peer]["target"], color=STYLES[target.peer]["color"], linewidth=0.9, linestyle=":")
        best = min(system["perplexity"] for system in found["systems"].values())
        panel.set(xscale="log", yscale="log", xlabel="seconds of learning", ylim=(0.96 * best, target.room * best))
        panel.set_title(f"{collection}\n{found['documents']:,} documents, {found['tokens'] / 1e6:.1f} M tokens", fontsize=10)
        panel.xaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_major_locator(LogLocator(subs=(1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)))
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        panel.yaxis.set_minor_formatter(NullFormatter())
        panel.grid(alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0][0].set_ylabel("perplexity of held-out documents")
    figure.legend(signs.values(), signs, loc="outside right center", frameon=False)
    others = max(system["others"] for found in collections.values() for system in found["systems"].values())
    between = "\n" if len(collections) == 1 else " "  # one panel is narrower than the line
    figure.suptitle(
        f"LDA, {topics} topics: quality over time{between}(dotted: {target.said}; others kept up to {others:.1f} cores busy)",
        fontsize=11,
    )
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return f"{path.parent.name}/{path.name}"

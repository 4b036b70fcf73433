"""Figures of the report: ratios on one line, and the figures of benchmarks made small."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from PIL import Image

from benchmarks.claims import Claim

COLORS = {"ahead": "#0072B2", "even": "#888888", "unclear": "#888888", "behind": "#D55E00"}
MARKERS = {"ahead": "o", "even": "s", "unclear": "s", "behind": "X"}
"""Okabe and Ito's colors, which color-blind people can tell apart; markers say the same without color."""
MAX_BYTES = 100_000
FARTHEST = 1000.0
"""Ratios beyond this, and those of what is never reached, stand at the edge."""


def overview(sections: Mapping[str, Sequence[Claim]], path: Path) -> None:
    """Draw a line for each comparison, a mark for each of its ratios, and label the least and the largest."""
    figure, panel = plt.subplots(figsize=(8.5, 0.42 * len(sections) + 1.4), layout="constrained")
    for place, claims in enumerate(sections.values()):
        for claim in claims:
            _mark(panel, claim, place)
        for claim in (min(claims, key=_ratio), max(claims, key=_ratio)) if len(claims) > 1 else claims:
            _label(panel, claim, place, _said(claim), (0, 6), "center")
    _finish(figure, panel, list(sections), path)


def ratios(claims: Sequence[Claim], path: Path) -> None:
    """Draw a line for each claim, with its ratio and how far repeats are apart."""
    figure, panel = plt.subplots(figsize=(8.5, 0.34 * len(claims) + 1.1), layout="constrained")
    for place, claim in enumerate(claims):
        if claim.spread:
            panel.plot([max(end, 1 / FARTHEST) for end in claim.spread], [place, place], color="#BBBBBB", linewidth=3, zorder=1)
        _mark(panel, claim, place)
        _label(panel, claim, place, _said(claim), (8, -4), "left")
    _finish(figure, panel, [f"{claim.what}: {claim.peer}" for claim in claims], path)


def small(source: Path, target: Path) -> None:
    """Copy a figure with few colors, and smaller if it takes more than so many bytes."""
    whole = Image.open(source).convert("RGB")
    for share in (1.0, 0.85, 0.7, 0.6, 0.5):
        size = (round(share * whole.width), round(share * whole.height))
        target.write_bytes(_few_colors(whole if share == 1.0 else whole.resize(size, Image.Resampling.LANCZOS)))
        if target.stat().st_size < MAX_BYTES:
            return


def _few_colors(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.quantize(128, Image.Quantize.FASTOCTREE).save(file, "PNG", optimize=True)
    return file.getvalue()


def _ratio(claim: Claim) -> float:
    if math.isnan(claim.ratio):
        return 1.0
    return min(max(claim.ratio, 1 / FARTHEST), FARTHEST)


def _said(claim: Claim) -> str:
    if math.isnan(claim.ratio):
        return "?"
    return "∞" if math.isinf(claim.ratio) else f"{claim.ratio:.1f}" if claim.ratio >= 10 else f"{claim.ratio:.2f}"


def _mark(panel: Axes, claim: Claim, place: int) -> None:
    panel.plot(_ratio(claim), place, MARKERS[claim.standing], color=COLORS[claim.standing], markersize=7, alpha=0.85)


def _label(panel: Axes, claim: Claim, place: int, text: str, offset: tuple[int, int], align: str) -> None:
    panel.annotate(
        text, (_ratio(claim), place), xytext=offset, textcoords="offset points", ha=align, fontsize=8, color="#333333"
    )


def _finish(figure: Figure, panel: Axes, names: list[str], path: Path) -> None:
    panel.set(xscale="log", xlabel="times better than the other")
    panel.set_yticks(range(len(names)), names, fontsize=8.5)
    panel.invert_yaxis()
    panel.margins(x=0.12, y=0.5 / max(len(names), 1))
    panel.axvline(1, color="#000000", linewidth=0.9)
    low, high = panel.get_xlim()
    panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 1000 * low else (1,)))
    panel.xaxis.set_major_formatter("{x:g}")
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.grid(alpha=0.3, axis="x")
    panel.spines[["top", "right", "left"]].set_visible(False)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=100)
    plt.close(figure)
    small(path, path)

"""SVG figures of the report, styled by the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.explorer.queries.views import Moment
from semascope.html import Markup, element
from semascope.models.display.topic_map import map_radii, place_names, topic_map
from semascope.models.display.topic_view import TopicView

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAP_SIZE = 900
"""Width and height of the map; names are placed for font size 13, and 26 on a phone."""
LETTER, LINE = 0.58, 1.15
"""Width of a letter and height of a line, relative to the font size."""
MAX_LETTERS = 22
WIDTH, HEIGHT = 340, 160
LEFT, RIGHT, TOP, BOTTOM = 50, 8, 10, 26
"""Margins of charts."""
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def map_of_topics(themes: TopicView, listed: Sequence[int]) -> Markup:
    """Draw the topic map; each circle of a listed topic links to it."""
    places, radii = topic_map(themes), map_radii(themes.shares)
    places[:, 1] = 1 - places[:, 1]
    circles = [_circle(themes, topic, places[topic], float(radii[topic])) for topic in listed]
    names = [(topic, tuple(_short(part) for part in themes.short_name(topic))) for topic in listed]
    labels = [_labels(names, places, radii, *of_width) for of_width in (("wide", 13), ("narrow", 26))]
    box = f"0 0 {MAP_SIZE} {MAP_SIZE}"
    return element("svg", *circles, *labels, viewBox=box, role="group", aria_label=f"map of {themes.kind}")


def _circle(themes: TopicView, topic: int, place: NDArray[np.float64], radius: float) -> Markup:
    words = " ".join(themes.top_words(topic, 8, themes.main_language))
    tooltip = element("title", f"{themes.names[topic]} · {themes.shares[topic]:.1%} · {words}")
    x, y, r = (round(MAP_SIZE * float(value), 1) for value in (*place, radius))
    return element(
        "a", element("circle", tooltip, cx=x, cy=y, r=r), href=f"#topic-{topic}", aria_label=f"{themes.names[topic]}: {words}"
    )


def _labels(
    names: Sequence[tuple[int, tuple[str, ...]]], places: NDArray[np.float64], radii: NDArray[np.float64], kind: str, size: int
) -> Markup:
    placed = place_names(names, places, radii, letter=LETTER * size / MAP_SIZE, line=LINE * size / MAP_SIZE)
    texts = []
    for name in placed:
        x, y = MAP_SIZE * name.x, MAP_SIZE * name.y + size * (0.35 - LINE * (len(name.lines) - 1) / 2)
        lines = [element("tspan", line, x=round(x, 1), y=round(y + i * LINE * size, 1)) for i, line in enumerate(name.lines)]
        texts.append(element("text", *lines))
    return element("g", *texts, class_=kind, aria_hidden="true")


def share_over_time(moments: Sequence[Moment]) -> Markup:
    """Draw the share of a topic in each period as a bar; periods without documents are gaps."""
    places = [_period_number(moment.period) for moment in moments]
    first, n = places[0], places[-1] - places[0] + 1
    most, scale = _round_up(max(moment.share for moment in moments)), WIDTH - LEFT - RIGHT
    bars, step = [], scale / n
    for place, moment in zip(places, moments, strict=True):
        height = (HEIGHT - TOP - BOTTOM) * moment.share / most
        tooltip = element("title", f"{moment.period}: {moment.share:.1%} of {moment.documents:,} documents")
        x, y = LEFT + step * (place - first) + 0.1 * step, HEIGHT - BOTTOM - height
        bars.append(element("rect", tooltip, x=round(x, 1), y=round(y, 1), width=round(0.8 * step, 1), height=round(height, 1)))
    at = {LEFT + step * (place - first + 0.5): moment.period for place, moment in zip(places, moments, strict=True)}
    axes = _axes([0.0, most / 2, most], 0.0, most, lambda share: f"{share:.2%}" if most < 0.02 else f"{share:.0%}", at)
    return _chart(axes, element("g", *bars, class_="bars"), label="share by period")


def line(x: Sequence[float], y: Sequence[float], label: str) -> Markup:
    """Draw a line chart."""
    low, high = min(y), max(y)
    low, high = (low, high) if high > low else (low - 1, high + 1)
    span, far = WIDTH - LEFT - RIGHT, max(x[-1] - x[0], 1e-9)
    points = [
        (round(LEFT + span * (a - x[0]) / far, 1), round(TOP + (HEIGHT - TOP - BOTTOM) * (high - b) / (high - low), 1))
        for a, b in zip(x, y, strict=True)
    ]
    at = {point[0]: f"{a:,.0f}" for point, a in zip(points, x, strict=True)}
    dots = [
        element("circle", element("title", f"{a:,.0f}: {b:,.1f}"), cx=p[0], cy=p[1], r=2.5)
        for p, a, b in zip(points, x, y, strict=True)
    ]
    path = element("polyline", points=" ".join(f"{a},{b}" for a, b in points))
    axes = _axes([low, (low + high) / 2, high], low, high, _compact, at)
    return _chart(axes, path, element("g", *dots, class_="dots") if len(dots) <= 40 else None, label=label)


def _chart(*parts: Any, label: str) -> Markup:
    return element("svg", *parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", aria_label=label)


def _axes(ticks: Sequence[float], low: float, high: float, format_tick: Callable[[float], str], at: dict[float, str]) -> Markup:
    """Draw horizontal lines with tick labels to their left, and the names below that fit."""
    parts = []
    for tick in ticks:
        y = round(TOP + (HEIGHT - TOP - BOTTOM) * (high - tick) / (high - low), 1)
        parts.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="axis"))
        parts.append(element("text", format_tick(tick), x=LEFT - 6, y=round(y + 4, 1), text_anchor="end"))
    end = -np.inf
    last_x, last_name = list(at.items())[-1]
    last_begin = last_x - _width(last_name) / 2
    for x, name in at.items():
        half = _width(name) / 2
        if x - half < end or (x != last_x and x + half > last_begin - 10):
            continue
        middle = min(max(x, half), WIDTH - half)
        parts.append(element("text", name, x=round(middle, 1), y=HEIGHT - 8, text_anchor="middle"))
        end = x + half + 10
    return element("g", *parts)


def _width(name: str) -> float:
    return 6.4 * len(name)


def _period_number(period: str) -> int:
    """Convert a period to a number of years, months or days."""
    if len(period) == 10:
        return int(np.datetime64(_valid_day(period), "D").astype(np.int64))
    year, *month = (int(part) for part in period.split("-"))
    return 12 * year + month[0] - 1 if month else year


def _valid_day(day: str) -> str:
    """Return a valid calendar day; sources contain dates such as 31 June."""
    try:
        return str(np.datetime64(day, "D"))
    except ValueError:
        return day[:8] + "28"


def _round_up(value: float) -> float:
    """Return the next round number."""
    scale = 10.0 ** np.floor(np.log10(max(value, 1e-6)))
    return float(next(scale * step for step in STEPS if scale * step >= value * 0.999))


def _compact(value: float) -> str:
    for size, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= 10 * size:
            return f"{value / size:,.4g}{sign}"
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def _short(name: str) -> str:
    return name if len(name) <= MAX_LETTERS else name[: MAX_LETTERS - 1].rstrip() + "…"

"""Two-dimensional map of topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.models.display.topic_view import TopicView

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_LANDMARKS = 2000
"""Maximum number of topics, largest first, with pairwise distances. The rest are placed relative to these landmarks."""
FILLED = 0.22
"""Fraction of the map covered by circles."""
SMALLEST = 0.004
"""Minimum radius of a circle."""
STEPS = 100
TOLERANCE = 0.001
"""Overlap up to which circles are not moved."""
MAX_DENSE = 200
"""Number of topics up to which NumPy alone is faster than importing SciPy."""


def topic_map(model: Any) -> NDArray[np.float64]:
    """Compute positions of topics or labels in the unit square.

    Classical scaling of Hellinger distances, followed by moving apart overlapping circles of `map_radii`. Deterministic.

    Parameters
    ----------
    model : model or TopicView
        Model with topics or labels.

    Returns
    -------
    ndarray of shape (n_topics, 2)
        Positions.
    """
    view = TopicView.of(model)
    n = len(view)
    if n <= 2:
        return np.array([[0.5, 0.5]] * n if n < 2 else [[0.3, 0.5], [0.7, 0.5]]).reshape(n, 2)
    largest = np.sort(np.argsort(-view.shares, kind="stable")[:MAX_LANDMARKS])
    squares = 2 - 2 * view.likeness(largest, largest)
    np.fill_diagonal(squares, 0.0)
    vectors, values, means = _classical_scaling(squares)
    places = np.empty((n, 2))
    places[largest] = vectors * np.sqrt(values)
    rest = np.setdiff1d(np.arange(n), largest)
    if len(rest):  # landmark scaling
        places[rest] = (means - (2 - 2 * view.likeness(rest, largest))) @ vectors / (2 * np.sqrt(np.maximum(values, 1e-12)))
    return _spread_positions(places, map_radii(view.shares))


def map_radii(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return radii of circles with areas proportional to topic shares."""
    sizes = shares / max(float(shares.sum()), 1e-300)
    return np.maximum(np.sqrt(sizes * FILLED / np.pi), SMALLEST)


def _classical_scaling(squares: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Compute the two principal axes of squared distances, their eigenvalues, and the mean squared distances."""
    means = squares.mean(axis=0)
    centered = -0.5 * (squares - means - means[:, None] + means.mean())
    values, vectors = _largest_two(centered)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    furthest = vectors[np.abs(vectors).argmax(axis=0), [0, 1]]
    return vectors * np.where(furthest < 0, -1.0, 1.0), values, means


def _largest_two(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute the two largest eigenvalues of a symmetric matrix, ascending, and their eigenvectors."""
    n = len(matrix)
    if n <= MAX_DENSE:
        values, vectors = np.linalg.eigh(matrix)
        return values[-2:], vectors[:, -2:]
    from scipy.sparse.linalg import eigsh

    start = np.random.default_rng(0).standard_normal(n)  # fixed, for a deterministic map
    values, vectors = eigsh(matrix, k=2, which="LA", v0=start, tol=1e-5)
    order = np.argsort(values)
    return values[order], vectors[:, order]


def _near_pairs(places: NDArray[np.float64], radii: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find pairs of circles that may overlap, each once; all pairs if there are few circles.

    Circles are binned by size, since the search radius of the largest would cover nearly everything.
    """
    if len(places) <= MAX_DENSE:
        return np.triu_indices(len(places), 1)
    from scipy.spatial import cKDTree

    sizes = np.log2(radii / radii.min()).astype(np.int64)
    first, second = [], []
    for size in np.unique(sizes):
        mine, no_larger = np.flatnonzero(sizes == size), np.flatnonzero(sizes <= size)
        reach = 2 * float(radii[mine].max())
        near = cKDTree(places[mine]).sparse_distance_matrix(cKDTree(places[no_larger]), reach, output_type="ndarray")
        one, other = mine[near["i"]], no_larger[near["j"]]
        once = (sizes[other] < size) | (one < other)
        first.append(one[once])
        second.append(other[once])
    return np.concatenate(first), np.concatenate(second)


def _spread_positions(places: NDArray[np.float64], radii: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spread positions evenly, half by distance and half by rank, and move overlapping circles apart."""
    n = len(places)
    ranks = np.argsort(np.argsort(places, axis=0, kind="stable"), axis=0) / max(n - 1, 1)
    spans = np.ptp(places, axis=0)
    even = (places - places.min(axis=0)) / np.where(spans > 0, spans, 1.0)
    border = radii[:, None]
    placed = border + (0.5 * even + 0.5 * ranks) * (1 - 2 * border)
    for _ in range(STEPS):
        first, second = _near_pairs(placed, radii)
        apart = placed[first] - placed[second]
        distance = np.maximum(np.hypot(apart[:, 0], apart[:, 1]), 1e-9)
        overlap = radii[first] + radii[second] - distance
        near = overlap > TOLERANCE
        if not near.any():
            break
        first, second = first[near], second[near]
        push = apart[near] / distance[near, None] * (0.5 * overlap[near, None])
        for axis in (0, 1):
            moves = np.bincount(first, push[:, axis], n) - np.bincount(second, push[:, axis], n)
            placed[:, axis] += 0.7 * moves
        placed = np.clip(placed, border, 1 - border)
    return np.asarray(placed)


class Name(NamedTuple):
    """Name on the map, centered at a position, on one or several lines."""

    topic: int
    x: float
    y: float
    lines: tuple[str, ...]


def place_names(
    names: Sequence[tuple[int, tuple[str, ...]]], places: NDArray[np.float64], radii: NDArray[np.float64],
    letter: float, line: float,
) -> list[Name]:  # fmt: skip
    """Place names in their circles, or else below or above them; omit names without room.

    Parameters
    ----------
    names : sequence of pairs
        Topics and the lines of their names, most important first.
    letter, line : float
        Width of a letter and height of a line, in map coordinates.
    """
    boxes: list[tuple[float, float, float, float]] = []
    found = []
    for topic, lines in names:
        width, height = letter * max(map(len, lines)), line * len(lines)
        x = min(max(float(places[topic, 0]), width / 2), 1 - width / 2)
        for move in (0.0, -radii[topic] - 0.55 * height, radii[topic] + 0.55 * height):
            y = float(places[topic, 1] + move)
            box = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
            if min(box) >= 0 and max(box) <= 1 and not any(_overlap(box, other) for other in boxes):
                boxes.append(box)
                found.append(Name(topic, x, y, lines))
                break
    return found


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]

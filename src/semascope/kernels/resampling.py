"""Particle weights and resampling."""

from __future__ import annotations

import numpy as np

from semascope.kernels.jit import strict_kernel
from semascope.kernels.particle_filter import N_PAIRS, N_RESAMPLED, N_ROWS


@strict_kernel
def extremes(values):
    """Return the minimum and maximum; NumPy's functions take long to compile."""
    least = most = values[0]
    for value in values:
        least, most = min(least, value), max(most, value)
    return least, most


@strict_kernel
def effective_sample_size(logs):
    """Compute the effective sample size: (Σ ω)² / Σ ω²."""
    _, most = extremes(logs)
    total = squares = 0.0
    for log in logs:
        weight = np.exp(log - most)
        total += weight
        squares += weight * weight
    return total * total / squares


@strict_kernel
def log_mean(logs, weights):
    """Compute log of the weighted mean of exp(logs); `weights` are logarithms too."""
    (_, most), (_, heaviest) = extremes(logs), extremes(weights)
    total = of_all = 0.0
    for p in range(len(logs)):
        weight = np.exp(weights[p] - heaviest)
        total += weight * np.exp(logs[p] - most)
        of_all += weight
    return most + np.log(total / of_all)


@strict_kernel
def draw_ancestors(logs, n_drawn, offset, ancestors):
    """Draw the ancestor of each particle in proportion to the weights; survivors stay in place.

    n_drawn     in    particles to draw by systematic resampling: all of them, or one for all
    offset      in    a random number from 0 to 1
    ancestors   int16[p]   out
    """
    n = len(logs)
    weights, step = np.empty(n), 0.0
    _, most = extremes(logs)
    for p in range(n):
        weights[p] = np.exp(logs[p] - most)
        step += weights[p] / n_drawn
    copies, at, total = np.zeros(n, np.int64), 0, weights[0]
    for i in range(n_drawn):
        while total <= (i + offset) * step and at < n - 1:
            at += 1
            total += weights[at]
        copies[at] += n // n_drawn
    for p in range(n):
        ancestors[p] = p if copies[p] > 0 else -1
        copies[p] -= copies[p] > 0
    giver = 0
    for p in range(n):
        if ancestors[p] < 0:
            while copies[giver] == 0:
                giver += 1
            ancestors[p] = giver
            copies[giver] -= 1


@strict_kernel
def copy_particles(tables, ancestors):
    """Replace particles by their ancestors, only where they differ. Values common to all move to the shared base."""
    kept = 0
    row = np.empty(len(ancestors))
    for number in range(tables.numbers[N_ROWS]):
        pair = tables.pair[number]
        for p in range(len(ancestors)):
            row[p] = tables.differ[number, ancestors[p]]
        shared, most = extremes(row)
        tables.base[pair] += shared
        if most == shared:
            tables.row[pair] = -1
            continue
        for p in range(len(ancestors)):
            tables.differ[kept, p] = row[p] - shared
        tables.row[pair], tables.pair[kept] = kept, pair
        kept += 1
    tables.numbers[N_ROWS] = kept
    for label in range(len(tables.sizes)):
        if not tables.uneven[label]:
            continue
        for p in range(len(ancestors)):
            row[p] = tables.beside[label, ancestors[p]]
        shared, most = extremes(row)
        tables.sizes[label] += shared
        tables.uneven[label] = most > shared
        for p in range(len(ancestors)):
            tables.beside[label, p] = row[p] - shared
    for p in range(len(ancestors)):
        tables.logs[p] = 0.0
    tables.numbers[N_RESAMPLED] += 1


@strict_kernel
def reset_weights(tables, factor):
    """Scale down all counts by a forgetting factor."""
    tables.base[: tables.numbers[N_PAIRS]] *= factor
    for row in range(tables.numbers[N_ROWS]):
        for p in range(tables.differ.shape[1]):
            tables.differ[row, p] *= np.float32(factor)
    tables.sizes[:] *= factor
    tables.beside[:] *= factor

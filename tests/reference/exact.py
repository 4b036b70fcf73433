"""Exact sums by Python's integers."""

import math


def add_scaled(values, scale):
    """Sum of numbers, each times `scale` and rounded half up."""
    return sum(math.floor(float(value) * scale + 0.5) for value in values)

"""Exact sums by Python's integers."""

import math


def add_scaled(values, scale):
    """Sum of numbers, each times `scale` and rounded up."""
    return sum(math.ceil(float(value) * scale) for value in values)

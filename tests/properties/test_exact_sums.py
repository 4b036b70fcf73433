"""Exact sums are the same in any order, and close to the true ones."""

import math
import pickle
from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from reference.exact_sums import add_scaled
from semascope.engines.exact_sums import Accumulator, Counts, CountTotal, Scalars, ScalarTotal


class Both(NamedTuple):
    """Statistics of both kinds."""

    table: Counts | CountTotal
    numbers: Scalars | ScalarTotal


def parts_of(seed, n_parts, n_rows=50, dtype=np.float32):
    rng = np.random.default_rng(seed)
    parts, bound = [], 0.0
    for _ in range(n_parts):
        rows = np.sort(rng.choice(n_rows, rng.integers(0, n_rows), replace=False)).astype(np.int32)
        values = (rng.random((len(rows), 3)) * 10.0 ** rng.integers(-9, 4)).astype(dtype)
        bound += float(values.sum())
        parts.append((rows, values, (float(rng.normal() * 1e9), float(rng.normal()))))
    return [Both(Counts(rows, values, (n_rows, 3), bound), Scalars(numbers)) for rows, values, numbers in parts]


def total_of(parts):
    accumulator = Accumulator()
    for part in parts:
        accumulator.add(part)
    return accumulator.total


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 12), st.randoms(use_true_random=False))
def test_order_and_grouping_do_not_matter(seed, n_parts, random):
    parts = parts_of(seed, n_parts)
    straight = total_of(parts)
    shuffled = random.sample(parts, len(parts))
    at = random.randint(1, n_parts - 1)
    left, right = total_of(shuffled[:at]), total_of(shuffled[at:])
    left.table.merge(right.table)
    left.numbers.merge(right.numbers)
    assert left.table.table.tobytes() == straight.table.table.tobytes()
    assert left.numbers.sums() == straight.numbers.sums()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 12))
def test_sums_are_those_of_pythons_integers(seed, n_parts):
    parts = parts_of(seed, n_parts, n_rows=5)
    total = total_of(parts).table
    scale = math.ldexp(1.0, total.exponent)
    for row in range(5):
        for column in range(3):
            values = [v[column] for part in parts for r, v in zip(part.table.rows, part.table.values, strict=True) if r == row]
            assert total.table[row, column] == add_scaled(values, scale)


def test_totals_are_as_near_to_the_truth_as_their_scale_allows():
    parts = parts_of(1, 20, dtype=np.float64)
    total = total_of(parts).table
    want = np.zeros((50, 3))
    for part in parts:
        want[part.table.rows] += part.table.values
    assert_allclose(np.ldexp(total.table.astype(float), -total.exponent), want, atol=20 * 2.0**-total.exponent, rtol=1e-14)
    assert_allclose(total.columns_normalized("float64").sum(axis=0), 1)
    assert_allclose(total.column_sums(), want.sum(axis=0))


def test_a_column_of_zeros_stays_zero():
    total = Counts(np.arange(2, dtype=np.int32), np.array([[1.0, 0], [3, 0]]), (2, 2), 4.0).empty_total()
    total.add(Counts(np.arange(2, dtype=np.int32), np.array([[1.0, 0], [3, 0]]), (2, 2), 4.0))
    assert total.columns_normalized("float32").tolist() == [[0.25, 0], [0.75, 0]]


def test_totals_that_are_used_again_start_from_nothing():
    first, second = parts_of(5, 4), parts_of(6, 4)
    second = [part._replace(table=part.table._replace(bound=first[0].table.bound)) for part in second]
    accumulator = Accumulator(spare=total_of(first))
    spare_table = accumulator._spare.table.table
    for part in second:
        accumulator.add(part)
    assert accumulator.total.table.table is spare_table
    assert accumulator.total.table.table.tobytes() == total_of(second).table.table.tobytes()
    assert accumulator.total.numbers.sums() == total_of(second).numbers.sums()


def test_totals_travel_between_processes():
    total = total_of(parts_of(3, 4)).table
    assert pickle.loads(pickle.dumps(total)).table.tobytes() == total.table.tobytes()

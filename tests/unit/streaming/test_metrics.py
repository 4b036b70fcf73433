"""The figures of a stream: speed, perplexity of recent documents, labels, and documents of this run."""

import math

import pytest

from helpers import hands_of_a_clock
from semascope.streaming import metrics
from semascope.streaming.metrics import MAX_POINTS, LearnedBatch, StreamMetrics


def learned(documents, perplexity):
    """Documents of ten words each."""
    tokens = 10.0 * documents
    return LearnedBatch(documents, tokens, -tokens * math.log(perplexity))


def test_perplexity_is_that_of_recent_documents_before_they_were_learned():
    figures = StreamMetrics()
    assert figures.perplexity is None
    for now, perplexity in [(5000, 800), (600, 50), (600, 20)]:
        figures.add(0, [], learned(now, perplexity))
    assert figures.perplexity == pytest.approx(math.sqrt(50 * 20))


def test_documents_without_words_leave_the_perplexity_as_it_is():
    figures = StreamMetrics()
    figures.add(10, [], learned(10, 50))
    figures.add(5000, [], LearnedBatch(4990, 0.0, 0.0))
    assert figures.perplexity == pytest.approx(50)


def test_a_perplexity_beyond_all_floats_is_told_as_a_large_one():
    figures = StreamMetrics()
    figures.add(1, [], LearnedBatch(1, 1.0, -1e6))
    assert figures.perplexity == math.exp(700)


def test_what_is_too_long_ago_to_tell_the_speed_is_forgotten(monkeypatch):
    now, so_far = hands_of_a_clock(monkeypatch, metrics), StreamMetrics()
    for number in range(100):
        now[0] = float(number)
        so_far.add(3 * number, [], LearnedBatch(3, 10.0, -50.0))
    assert len(so_far._times) < 20
    assert so_far.speed == 3.0
    now[0] += 1000
    assert so_far.speed == 0.0


def test_the_path_of_the_perplexity_stays_short_and_goes_from_start_to_end():
    so_far = StreamMetrics()
    for number in range(2000):
        so_far.add(number, [], learned(1, 50))
    documents = [point for point, _ in so_far.path]
    assert MAX_POINTS / 2 <= len(documents) <= MAX_POINTS
    assert documents[0] == 0
    assert documents[-1] > 1900
    assert documents == sorted(documents)


def test_what_was_known_at_the_start_is_not_counted_as_new():
    so_far = StreamMetrics()
    so_far.begin(100, ["a", "b"], bad_lines=2)
    assert (so_far.documents, so_far.documents_now, so_far.n_labels, so_far.new_labels, so_far.bad_lines) == (100, 0, 2, [], 2)
    so_far.add(107, ["a", "b", "c", "d"], learned(7, 50), bad_lines=5)
    assert (so_far.documents, so_far.documents_now, so_far.n_labels, so_far.bad_lines) == (107, 7, 4, 5)
    assert so_far.new_labels == ["d", "c"]

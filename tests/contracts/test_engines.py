"""What every engine promises, run for each engine and each algorithm. A new one adds a line."""

from typing import NamedTuple

import numpy as np
import pytest

from helpers import large_counts
from semascope import Corpus, ThreadEngine
from semascope.engines.exact import Counts, Scalars
from semascope.storage import open_directory
from semascope.training.em import EM
from semascope.training.loop import run
from semascope.training.stopping import StopRule

ENGINES = {
    "threads": ThreadEngine(2),
    "one thread": ThreadEngine(1),
}


def em(corpus):
    return EM(5, corpus.n_documents, corpus.n_words, corpus.n_tokens, seed=1)


ALGORITHMS = {"em": em}


class Tally(NamedTuple):
    """Documents and tokens."""

    words: Counts
    sums: Scalars


def tally(shard):
    counts = np.ones((len(shard.by_word.words), 1), dtype=np.float32)
    part = Counts(shard.by_word.words, counts, (shard.n_words, 1), 1e6)
    return {"number": np.full((shard.n_documents, 1), shard.number)}, Tally(part, Scalars((1.0, float(shard.n_documents))))


def count_up(shard, local, state):
    _, stats = tally(shard)
    return {"number": local["number"] + state}, stats


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "corpus"
    Corpus.from_matrix(large_counts()).save(path)
    return Corpus.open(path)


@pytest.fixture(params=ENGINES.values(), ids=ENGINES)
def engine(request):
    return request.param


def test_every_shard_is_worked_on_once_and_keeps_its_locals(engine, corpus):
    shards = corpus.shards()
    with engine.place(shards) as placed:
        stats = placed.begin(tally)
        assert stats.sums.sums() == [len(shards), corpus.n_documents]
        for _ in range(3):
            stats = placed.step(count_up, 10)
        assert stats.sums.sums() == [len(shards), corpus.n_documents]
        want = np.concatenate([np.full(s.n_documents, s.number + 30) for s in shards])
        assert placed.documents("number")[:, 0].tolist() == want.tolist()


def test_locals_are_saved_and_taken_up(engine, corpus, tmp_path):
    with engine.place(corpus.shards()) as placed:
        placed.begin(tally)
        placed.step(count_up, 7)
        placed.save(tmp_path / "saved", "test", 1, lambda draft: draft.facts.update(note="fine"))
        want = placed.documents("number")
    assert open_directory(tmp_path / "saved", "test", 1).facts["note"] == "fine"
    with engine.place(corpus.shards()) as placed:
        placed.load_locals(open_directory(tmp_path / "saved", "test", 1))
        assert placed.documents("number").tolist() == want.tolist()
        placed.step(count_up, 1)
        assert placed.documents("number").tolist() == (want + 1).tolist()


def broken(shard):
    raise RuntimeError(f"shard {shard.number} is broken")


def test_an_error_in_a_task_comes_out(engine, corpus):
    with pytest.raises(RuntimeError, match="is broken"), engine.place(corpus.shards()) as placed:
        placed.begin(broken)


def test_agreement_gives_one_value(engine, corpus):
    with engine.place(corpus.shards()) as placed:
        assert placed.agree("settled") == "settled"


@pytest.mark.parametrize("make", ALGORITHMS.values(), ids=ALGORITHMS)
def test_every_algorithm_gives_the_bits_of_one_thread(engine, corpus, make):
    want, got = (run(make(corpus), corpus.shards(), e, stop=StopRule(6, 0.0)) for e in (ThreadEngine(1), engine))
    assert got.history == want.history
    assert got.documents.tobytes() == want.documents.tobytes()
    for mine, theirs in zip(got.state, want.state, strict=True):
        assert np.asarray(mine).tobytes() == np.asarray(theirs).tobytes()

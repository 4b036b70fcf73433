"""What every engine promises, as plain checks: run in this process, or by every rank of an MPI job.

mpirun -n 2 python tests/contracts/engine_contract.py '{"threads_per_rank": 2}' CORPUS FOLDER
    runs them all and prints digests of the fitted models.
"""

import hashlib
import json
import sys
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from semascope import Corpus, MPIEngine
from semascope.corpus.labels import LabelRows, label_shards
from semascope.corpus.shards import as_read_only
from semascope.engines.exact_sums import Counts, Scalars
from semascope.errors import TaskError
from semascope.storage import Layout, open_directory
from semascope.storage.facts import ListOf, Record, Text
from semascope.storage.layout import numbers
from semascope.training.checkpoint import Checkpoints
from semascope.training.ctm import CTM
from semascope.training.cvb0 import CVB0
from semascope.training.cvb0_sampled import SampledCVB0
from semascope.training.hyperpriors import WordPrior
from semascope.training.labeled_gibbs import LabeledGibbs, Pairs
from semascope.training.lanczos import BlockLanczos
from semascope.training.loop import run
from semascope.training.plsa import EM
from semascope.training.plsa_tempered import TemperedEM
from semascope.training.plsa_textbook import TextbookEM
from semascope.training.stopping import ITERATIONS, StopRule
from semascope.training.variational import VB
from semascope.training.variational_seeded import SeededVB


def facts(corpus):
    return {"n_documents": corpus.n_documents, "n_words": corpus.n_words, "n_tokens": corpus.n_tokens, "seed": 1}


def informed(n_words, n_topics):
    """A prior that knows one word of each topic."""
    return WordPrior.of_table(0.01 + 10 * (np.arange(n_words)[:, None] == 10 * np.arange(n_topics)))


def labeled_shards(corpus):
    """Shards with up to three labels for each document, none for some."""
    labels = [sorted({(number * step) % 11 for step in range(1, 1 + number % 4)}) for number in range(corpus.n_documents)]
    ends = np.cumsum([0, *map(len, labels)])
    return label_shards(
        corpus.shards(), LabelRows(as_read_only(ends, np.int64), as_read_only(np.concatenate(labels), np.int32))
    )


def labeled_gibbs(corpus):
    return LabeledGibbs(11, **facts(corpus), pairs=Pairs.of(labeled_shards(corpus), corpus.n_words, 11), burn_in=3)


ALGORITHMS = {
    "fused EM": lambda corpus: EM(5, **facts(corpus)),
    "fused EM in double precision": lambda corpus: EM(5, **facts(corpus), dtype="float64"),
    "textbook EM": lambda corpus: TextbookEM(5, **facts(corpus)),
    "CVB0 that learns its priors, in two languages": lambda corpus: CVB0(
        5, **facts(corpus), learn_alpha=True, learn_eta=True, languages=np.arange(corpus.n_words) % 2
    ),
    "CVB0 with an informed prior": lambda corpus: CVB0(5, **facts(corpus), eta=informed(corpus.n_words, 5)),
    "CVB0 over few topics that learns its priors, in two languages": lambda corpus: CVB0(
        20, **facts(corpus), few_from=8, learn_alpha=True, learn_eta=True, languages=np.arange(corpus.n_words) % 2
    ),
    "CVB0 that learns its priors from draws, in two languages": lambda corpus: SampledCVB0(
        5, **facts(corpus), learn_alpha=True, learn_eta=True, languages=np.arange(corpus.n_words) % 2,
        first_passes=2, max_sweeps=5,
    ),
    "VB": lambda corpus: VB(5, **facts(corpus)),
    "VB from collapsed passes that learns its priors, in two languages": lambda corpus: SeededVB(
        5, **facts(corpus), learn_alpha=True, learn_eta=True, languages=np.arange(corpus.n_words) % 2, collapsed_passes=2
    ),
    "VB from collapsed passes with an informed prior": lambda corpus: SeededVB(
        5, **facts(corpus), eta=informed(corpus.n_words, 5), collapsed_passes=2
    ),
    "block Lanczos": lambda corpus: BlockLanczos(5, **facts(corpus)),
    "block Lanczos in double precision, on tf-idf": lambda corpus: BlockLanczos(
        5, **facts(corpus), dtype="float64", weighting="tfidf"
    ),
    "tempered EM": lambda corpus: TemperedEM(5, **facts(corpus), tempering=0.8),
    "tempered EM that finds β": lambda corpus: TemperedEM(5, **facts(corpus)),
    "variational EM of correlated topics": lambda corpus: CTM(5, **facts(corpus)),
    "Gibbs sampling of labels": labeled_gibbs,
}  # fmt: skip


class CutOff:
    """Ends a run after so many iterations, whatever they are for."""

    def __init__(self, n):
        self.left = n

    def __call__(self, history, seconds):
        self.left -= 1
        return ITERATIONS if self.left < 0 else None


CUT_OFF_IN_EACH_PHASE = {SampledCVB0: (1, 5, 2), SeededVB: (1, 1, 3)}
"""Iterations after which a run of several phases is cut off again and again, in each of them."""


class Tally(NamedTuple):
    """Shards and documents."""

    words: Counts
    sums: Scalars


LAYOUT = Layout(
    "test",
    1,
    facts=Record({"note": Text(), "locals": ListOf(Text())}),
    arrays={"number-*": numbers("shard_documents", 1, dtypes=("int64",))},
)


def tally(shard):
    counts = np.ones((len(shard.by_word.words), 1), dtype=np.float32)
    part = Counts(shard.by_word.words, counts, (shard.n_words, 1), 1e6)
    return {"number": np.full((shard.n_documents, 1), shard.number)}, Tally(part, Scalars((1.0, float(shard.n_documents))))


def count_up(shard, local, state):
    _, stats = tally(shard)
    return {"number": local["number"] + state}, stats


def broken_in_one(shard):
    if shard.number == 1:
        raise ValueError("shard 1 is broken")
    return tally(shard)


def raised(action, kind):
    try:
        action()
    except kind as error:
        return str(error)
    return None


def every_shard_is_worked_on_once_and_keeps_its_locals(engine, corpus, folder):
    shards = corpus.shards()
    with engine.open(shards, folder) as placed:
        assert placed.begin(tally).sums.sums() == [len(shards), corpus.n_documents]
        for _ in range(3):
            stats = placed.step(count_up, 10)
        assert stats.sums.sums() == [len(shards), corpus.n_documents]
        want = np.concatenate([np.full(s.n_documents, s.number + 30) for s in shards])
        assert placed.documents(itemgetter("number"))[:, 0].tolist() == want.tolist()


def locals_are_saved_and_taken_up(engine, corpus, folder):
    with engine.open(corpus.shards(), folder) as placed:
        placed.begin(tally)
        placed.step(count_up, 7)
        placed.save(folder / "saved", LAYOUT, lambda draft: draft.facts.update(note="fine"))
        want = placed.documents(itemgetter("number")).tolist()
    saved = open_directory(folder / "saved", LAYOUT)
    assert saved.facts["note"] == "fine"
    with engine.open(corpus.shards(), folder) as placed:
        placed.load_locals(saved, lambda shard, local: None)
        assert placed.documents(itemgetter("number")).tolist() == want
        placed.step(count_up, 1)
        assert placed.documents(itemgetter("number")).tolist() == (np.array(want) + 1).tolist()


def a_broken_writer_leaves_what_was_there(engine, corpus, folder):
    def fail(draft):
        raise OSError(28, "No space left on device")

    with engine.open(corpus.shards(), folder) as placed:
        placed.begin(tally)
        placed.save(folder / "kept", LAYOUT, lambda draft: draft.facts.update(note="old"))
        assert raised(lambda: placed.save(folder / "kept", LAYOUT, fail), OSError)
        assert placed.broadcast(1) == 1
    assert open_directory(folder / "kept", LAYOUT).facts["note"] == "old"


def an_error_in_a_task_comes_out_everywhere(engine, corpus, folder):
    with engine.open(corpus.shards(), folder) as placed:
        assert "shard 1 is broken" in raised(lambda: placed.begin(broken_in_one), (ValueError, TaskError))
        assert placed.begin(tally).sums.sums()[0] == len(corpus.shards())  # and the engine still works


def actions_run_once_or_together(engine, corpus, folder):
    engine.run_on_root(lambda: (folder / "once").mkdir())
    assert (folder / "once").is_dir()
    assert engine.run_on_all(lambda: 5) == 5
    assert "oops" in raised(lambda: engine.run_on_root(lambda: int("oops")), ValueError)


def more_workers_than_shards_are_no_problem(engine, corpus, folder):
    with engine.open(corpus.shards()[:1], folder) as placed:
        assert placed.begin(tally).sums.sums()[0] == 1
        assert placed.step(count_up, 1).words.table.sum() > 0


CHECKS = [
    every_shard_is_worked_on_once_and_keeps_its_locals,
    locals_are_saved_and_taken_up,
    a_broken_writer_leaves_what_was_there,
    an_error_in_a_task_comes_out_everywhere,
    actions_run_once_or_together,
    more_workers_than_shards_are_no_problem,
]


def digest(fitted):
    content = hashlib.blake2b(repr(fitted.history).encode())
    for part in (fitted.documents, *(fitted.state if isinstance(fitted.state, tuple) else [fitted.state])):
        content.update(part.tobytes() if isinstance(part, np.ndarray) else json.dumps(part).encode())
    return content.hexdigest()


def digests(engine, corpus, folder):
    """Every algorithm's model; fitted in one go, and cut off, saved and resumed."""
    found = {}
    for name, make in ALGORITHMS.items():
        algorithm = make(corpus)
        shards = labeled_shards(corpus) if isinstance(algorithm, LabeledGibbs) else corpus.shards()
        whole = run(algorithm, shards, engine, stop=StopRule(6, 0.0))
        unfinished = folder / name
        parts = [CutOff(n) for n in CUT_OFF_IN_EACH_PHASE.get(type(algorithm), ())] or [StopRule(4, 0.0)]
        for number, part in enumerate(parts):
            run(algorithm, shards, engine, stop=part, checkpoints=Checkpoints(unfinished, 0.0, resume=number > 0))
        resumed = run(algorithm, shards, engine, stop=StopRule(6, 0.0), checkpoints=Checkpoints(unfinished, 1e9, resume=True))
        assert digest(resumed) == digest(whole), name
        found[name] = digest(whole)
    return found


def keep_the_contract(engine, corpus_path, folder):
    """Run every check; give the digests of the models."""
    corpus = Corpus.open(corpus_path)
    for check in CHECKS:
        own = folder / check.__name__
        engine.run_on_root(lambda own=own: own.mkdir())
        check(engine, corpus, own)
    return digests(engine, corpus, folder)


if __name__ == "__main__":
    settings = json.loads(sys.argv[1])
    mine = MPIEngine(**settings)
    result = keep_the_contract(mine, Path(sys.argv[2]), Path(sys.argv[3]))
    if mine.is_root:
        print("digests", json.dumps(result))

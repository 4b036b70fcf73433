"""Every engine keeps the contract, and every algorithm gives the same bits on all of them. A new engine adds a line."""

import json

import pytest

from contracts import engine_contract, spark_contract
from helpers import TWO_EXECUTORS, mpirun, on_spark
from semascope import ThreadEngine


def on_threads(n_threads, **settings):
    return lambda corpus, folder: engine_contract.keep_the_contract(ThreadEngine(n_threads, **settings), corpus, folder)


def on_ranks(n_ranks, threads_per_rank, **other_settings):
    def keep(corpus, folder):
        settings = json.dumps({"threads_per_rank": threads_per_rank, **other_settings})
        ran = mpirun(n_ranks, engine_contract.__file__, settings, corpus, folder)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return json.loads(ran.stdout.split("digests", 1)[1])

    return keep


def on_executors(master):
    def keep(corpus, folder):
        ran = on_spark(spark_contract.__file__, master, corpus, folder)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return json.loads(ran.stdout.split("digests", 1)[1])

    return keep


ENGINES = {
    "2 threads": on_threads(2),
    "4 threads": on_threads(4),
    "2 threads that spill": on_threads(2, spill=True),
    "1 rank": on_ranks(1, 1),
    "2 ranks": on_ranks(2, 1),
    "3 ranks": on_ranks(3, 1),
    "4 ranks": on_ranks(4, 1),
    "2 ranks of 2 threads": on_ranks(2, 2),
    "3 ranks of 2 threads": on_ranks(3, 2),
    "2 ranks that spill": on_ranks(2, 1, spill=True),
    "2 Spark executors": on_executors(TWO_EXECUTORS),
}


@pytest.fixture(scope="module")
def of_one_thread(corpus_path, tmp_path_factory):
    return on_threads(1)(corpus_path, tmp_path_factory.mktemp("one"))


@pytest.mark.parametrize("keep_the_contract", ENGINES.values(), ids=ENGINES)
def test_the_contract_is_kept_and_the_bits_are_those_of_one_thread(keep_the_contract, corpus_path, of_one_thread, tmp_path):
    assert keep_the_contract(corpus_path, tmp_path) == of_one_thread

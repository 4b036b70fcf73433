"""Can a corpus be built and fitted that is bigger than the memory allowed, and how fast?

A million documents are made: 100 content words each from planted topics over a Zipf vocabulary, among as many stop words, and
beside the text fields that are not read, as scraped pages have. `semascope build` and `semascope fit` then run as processes,
whose memory that no file backs (RssAnon) is sampled meanwhile, and may be 700 MB. The system refuses them more than 900 MB of
data (RLIMIT_DATA), for what allocators set aside and never use counts there, too.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks import harness
from semascope.corpus.text.languages import stop_words_of

LIMIT, REFUSED = 700 << 20, 900 << 20
TOPICS = 50
ITERATIONS = 20
VOCABULARY = 100_000
PLANTED = 50
CONTENT_WORDS = 100
BLOCK = 10_000


def run(quick: bool) -> dict[str, Any]:
    """Make the documents, build and fit."""
    n_documents = 50_000 if quick else 1_000_000
    home = Path(tempfile.mkdtemp(prefix="semascope-bigger-"))
    try:
        source, corpus, model = home / "documents.jsonl", home / "corpus", home / "model"
        make_documents(source, n_documents)
        built = _limited("build", source, corpus, "--stop-words", "english")
        facts = json.loads(_command("info", corpus, "--json"))
        fitting = ("fit", corpus, model, "--topics", TOPICS, "--max-iter", ITERATIONS, "--tol", 0, "--overwrite")
        one = _limited(*fitting, "--max-iter", 1)
        fitted = _limited(*fitting)
        told = json.loads(_command("info", model, "--json"))
        size = {"json_bytes": source.stat().st_size, "corpus_bytes": sum(f.stat().st_size for f in corpus.rglob("*.*"))}
    finally:
        shutil.rmtree(home, ignore_errors=True)
    iteration = (fitted["seconds"] - one["seconds"]) / (ITERATIONS - 1)
    return {
        "documents": facts["documents"],
        "words": facts["words"],
        "tokens": facts["tokens"],
        **size,
        "build": {**built, "mb_per_second": size["json_bytes"] / built["seconds"] / 1e6},
        "fit": {**fitted, "iteration": iteration, "tokens_per_second": facts["tokens"] / iteration},
        "log_likelihood": told["log_likelihood"],
        "goals": [
            harness.goal("build: peak RssAnon / 700 MB", built["rss_anon"] / LIMIT, at_most=1),
            harness.goal("fit: peak RssAnon / 700 MB", fitted["rss_anon"] / LIMIT, at_most=1),
        ],
    }


def make_documents(path: Path, n_documents: int) -> None:
    """Write documents as JSON lines."""
    random = np.random.default_rng(0)
    names = pl.concat([pl.Series(_made_up_words(VOCABULARY)), pl.Series(sorted(stop_words_of("english")))])
    n_stop = len(names) - VOCABULARY
    with path.open("wb") as file:
        for first in range(0, n_documents, BLOCK):
            n = min(BLOCK, n_documents - first)
            tokens = np.empty((n, 2 * CONTENT_WORDS), dtype=np.int64)
            tokens[:, ::2] = VOCABULARY + random.integers(n_stop, size=(n, CONTENT_WORDS))
            tokens[:, 1::2] = _content(random, n)
            text = names.gather(tokens.reshape(-1)).reshape((n, 2 * CONTENT_WORDS)).arr.join(" ")
            frame = pl.DataFrame({"id": [f"document-{first + i:07d}" for i in range(n)], "text": text})
            page = (
                "<html><body><p class='article'>"
                + pl.col("text").str.replace_all(" the ", " <b>the</b> ")
                + "</p></body></html>"
            )
            address = "https://example.org/archive/2026/articles/" + pl.col("id") + ".html"
            headers = pl.lit(
                "content-type: text/html; charset=utf-8; cache-control: max-age=600; server: example; via: 1.1 cache"
            )
            frame.with_columns(raw=page, url=address, headers=headers).write_ndjson(file)


def _content(random: np.random.Generator, n: int) -> np.ndarray:
    """Content words of documents with two planted topics each: a topic is a Zipf law over words of its own."""
    topic = random.integers(PLANTED, size=(n, 2))[np.arange(n)[:, None], random.integers(2, size=(n, CONTENT_WORDS))]
    rank = np.minimum(random.pareto(0.7, size=topic.shape), 1e9).astype(np.int64)
    shared = random.random(topic.shape) < 0.3
    return np.where(shared, rank * 7, rank * PLANTED + topic) % VOCABULARY


def _made_up_words(n: int) -> list[str]:
    """Words that can be told apart, of the length of words."""
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
    return [
        syllables[i % 70] + syllables[i // 70 % 70] + syllables[i // 4900 % 70] + ("n" if i % 2 else "")
        for i in range(1, n + 1)
    ]


# --- a process with a limit ------------------------------------------------------------------------------------------------


def _limited(*arguments: Any) -> dict[str, Any]:
    """Run a command under the limit; give its seconds and the peaks of its memory."""
    command = [sys.executable, "-m", "semascope", *map(str, arguments)]
    began = time.perf_counter()
    process = subprocess.Popen(command, preexec_fn=_limit, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    peaks = {"RssAnon": 0, "VmData": 0}
    while process.poll() is None:
        for name, value in _memory_of(process.pid):
            peaks[name] = max(peaks.get(name, 0), value)
        time.sleep(0.01)
    seconds = time.perf_counter() - began
    told = process.stderr.read() if process.stderr else ""
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {told}")
    return {"seconds": seconds, "rss_anon": peaks["RssAnon"], "data": peaks["VmData"], "spilled": "--spill" in told}


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (REFUSED, REFUSED))


def _memory_of(process: int) -> Iterator[tuple[str, int]]:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        name, _, value = line.partition(":")
        if name in ("RssAnon", "VmData"):
            yield name, int(value.split()[0]) * 1024


def _command(*arguments: Any) -> str:
    command = [sys.executable, "-m", "semascope", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ).stdout


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    harness.show_goals(result["goals"])
    size = (
        f"{result['documents']:,} documents, {result['tokens']:,.0f} tokens, {result['json_bytes'] / 1e9:.2f} GB of JSON lines"
    )
    build, fit = result["build"], result["fit"]
    rows = [
        (
            "build",
            f"{build['seconds']:.0f} s",
            f"{build['mb_per_second']:.0f} MB/s",
            _mb(build["rss_anon"]),
            _mb(build["data"]),
        ),
        (
            f"fit, K = {TOPICS}, {ITERATIONS} iterations",
            f"{fit['seconds']:.0f} s",
            f"{fit['tokens_per_second'] / 1e6:.1f} M tokens/s",
            _mb(fit["rss_anon"]),
            _mb(fit["data"]),
        ),
    ]
    harness.show(f"{size}, data limited to 700 MB", ("", "time", "speed", "peak RssAnon", "peak VmData"), rows)


def _mb(n_bytes: float) -> str:
    return f"{n_bytes / 2**20:.0f} MB"


if __name__ == "__main__":
    harness.alone("bigger_than_memory", run, show)

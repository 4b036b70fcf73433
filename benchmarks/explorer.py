"""The explorer under load: how soon it is open, and what 200 people at once do to it.

Opening: a model of 100 topics over 100,000 documents (CVE); seconds from the start of the command to the answer with all topics
and their map. Load: news of Reuters, 50 topics; wrk with 200 connections on /api/search, and on /api/infer, for 60 seconds
each: answers a second, time to the 99th percentile, errors, and memory of the server before and after. Learning: labels of the
same news; 200 connections search and infer while one more posts documents to /api/stream; those that were acknowledged are then
looked for in the model. That model has seen all news twice before, so that what it remembers of documents is full.

Needs wrk (Debian: apt-get install wrk). Takes about five minutes; with --quick, 10 seconds of each load, about two.
"""

from __future__ import annotations

import gzip
import http.client
import itertools
import json
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

from benchmarks import data, harness
from benchmarks.environments import NoEnvironmentError
from semascope import LDA, Analyzer, Corpus, OnlineLabeledLDA, load, read

CLIENTS = 200
N_DOCUMENTS, N_TOPICS = 100_000, 100
OPENING_SECONDS = 2.0
BATCH = 10
SCRIPT = """
local requests = {}
local number = 0
function init(args)
  for line in io.lines(args[1]) do
    local body = line:match("^POST (.*)")
    if body then
      requests[#requests + 1] = wrk.format("POST", "/api/infer", {["Content-Type"] = "application/json"}, body)
    else
      requests[#requests + 1] = wrk.format("GET", line)
    end
  end
  number = math.random(#requests)
end
function request()
  number = number % #requests + 1
  return requests[number]
end
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('\\nJSON {"requests": %d, "seconds": %f, "p50": %f, "p99": %f, "max": %f, "errors": %d}\\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e6, latency:percentile(99) / 1e6, latency.max / 1e6,
    e.connect + e.read + e.write + e.status + e.timeout))
end
"""


def run(quick: bool) -> dict[str, Any]:
    """Measure opening, load, and load while learning."""
    if shutil.which("wrk") is None:
        raise NoEnvironmentError("wrk is not there (Debian: apt-get install wrk).")
    seconds = 10 if quick else 60
    with tempfile.TemporaryDirectory(prefix="semascope-explorer-") as name:
        home = Path(name)
        opening = _opening(home, repeats=3 if quick else 7)
        texts = _reuters(home)
        loads = _loads(home, texts, seconds)
        learning = _learning(home, texts, seconds)
    goals = [harness.goal("seconds to open", opening["seconds"], at_most=OPENING_SECONDS, others=opening["others"])]
    for name, one in loads.items():
        goals.append(harness.goal(f"errors of {name}", one["errors"], at_most=0))
        goals.append(harness.goal(f"memory after / before {name}", one["after"] / one["before"], at_most=1.1))
    while_learning = learning["load"]
    goals.append(harness.goal("errors while learning", while_learning["errors"], at_most=0))
    goals.append(
        harness.goal("memory after / before learning", while_learning["after"] / while_learning["before"], at_most=1.1)
    )
    goals.append(harness.goal("acknowledged but not learned", learning["lost"], at_most=0))
    return {"goals": goals, "opening": opening, "loads": loads, "learning": learning, "clients": CLIENTS}


# --- opening -------------------------------------------------------------------------------------------------------------


def _opening(home: Path, repeats: int) -> dict[str, Any]:
    source = home / "cve.jsonl"
    with gzip.open(data.folder(data.CVE) / data.FILE, "rb") as packed, source.open("wb") as plain:
        plain.writelines(itertools.islice(packed, N_DOCUMENTS))
    corpus = Corpus.build(read(source), Analyzer(stop_words="english", min_df=3), path=home / "cve")
    LDA(N_TOPICS, random_state=0, max_iter=10).fit(corpus).save(home / "cve-lda")
    others, found = harness.OthersWork(), []
    for _ in range(repeats + 1):  # the first fills the caches of the disk
        began = time.perf_counter()
        with _served(home / "cve-lda") as server:
            assert len(server.get("/api/topics")["topics"]) == N_TOPICS
            found.append(time.perf_counter() - began)
    times = sorted(found[1:])
    facts = {"documents": corpus.n_documents, "topics": N_TOPICS, "words": corpus.n_words}
    return {"seconds": times[len(times) // 2], "all": found, "others": others.cores(), **facts}


class Server:
    """A server in a process of its own."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process, self.port = process, port

    def get(self, address: str) -> Any:
        return self.ask("GET", address)

    def ask(self, method: str, address: str, body: Any = None) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        content = None if body is None else json.dumps(body)
        connection.request(method, address, content, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        told = json.loads(answer.read())
        connection.close()
        if answer.status != 200:
            raise RuntimeError(f"{address}: {answer.status} {told}")
        return told

    def memory(self) -> int:
        """Memory that no file backs."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s+(\d+)", status).group(1)) * 1024  # type: ignore[union-attr]


@contextmanager
def _served(model: Path, *options: str) -> Iterator[Server]:
    command = [sys.executable, "-m", "semascope", "explore", str(model), "--port", "0", "--no-open", *options]
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, stderr=said)
        try:
            yield Server(process, _port(process, said))
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()


def _port(process: subprocess.Popen[bytes], said: Any) -> int:
    """Wait until the server says where it is."""
    while True:
        said.seek(0)
        text = said.read()
        if found := re.search(r"http://127\.0\.0\.1:(\d+)/", text):
            return int(found.group(1))
        if process.poll() is not None:
            raise RuntimeError(text)
        time.sleep(0.002)


# --- load ----------------------------------------------------------------------------------------------------------------


def _reuters(home: Path) -> list[dict[str, Any]]:
    """Make a corpus of news, and give its documents."""
    Corpus.build(read(data.folder(data.REUTERS) / data.FILE), Analyzer(stop_words="english", min_df=3), path=home / "reuters")
    return list(data.records(data.REUTERS))


def _asked(texts: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """Questions of four words, and texts to infer, of random documents."""
    chance, searches, infers = random.Random(0), [], []
    words = [re.findall(r"[A-Za-z]+", record["text"]) for record in chance.sample(texts, 2000)]
    for one in (words for words in words if len(words) > 20):
        first = chance.randrange(len(one) - 4)
        searches.append(f"/api/search?q={'+'.join(one[first : first + 4])}")
        infers.append("POST " + json.dumps({"text": " ".join(one[:100])}))
    return searches, infers


def _loads(home: Path, texts: list[dict[str, Any]], seconds: int) -> dict[str, Any]:
    LDA(50, random_state=0, max_iter=30).fit(Corpus.open(home / "reuters")).save(home / "lda")
    searches, infers = _asked(texts)
    with _served(home / "lda") as server:
        _wait_for_search(server)
        return {
            "/api/search": _load(home, server, searches, seconds),
            "/api/infer": _load(home, server, infers, seconds),
        }


def _wait_for_search(server: Server) -> None:
    while server.get("/api/about")["can_search"] != "ready":
        server.get("/api/topics/0")
        time.sleep(0.2)


def _load(home: Path, server: Server, asked: list[str], seconds: int) -> dict[str, Any]:
    """Have many ask at once, first for a little while to warm up."""
    (home / "script.lua").write_text(SCRIPT)
    (home / "asked").write_text("\n".join(asked) + "\n")
    _wrk(home, server.port, 5)
    before = server.memory()
    found = _wrk(home, server.port, seconds)
    return {**found, "before": before, "after": server.memory()}


def _wrk(home: Path, port: int, seconds: int) -> dict[str, Any]:
    command = ["wrk", "-t2", f"-c{CLIENTS}", f"-d{seconds}s", "--timeout", "30s", "-s", str(home / "script.lua")]
    command += [f"http://127.0.0.1:{port}", "--", str(home / "asked")]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return json.loads(re.search(r"^JSON (.*)$", told, re.MULTILINE).group(1))  # type: ignore[union-attr,no-any-return]


# --- learning ------------------------------------------------------------------------------------------------------------


def _learning(home: Path, texts: list[dict[str, Any]], seconds: int) -> dict[str, Any]:
    live = OnlineLabeledLDA(random_state=0, analyzer=Analyzer(stop_words="english"))
    first = [*texts, *texts]  # more words than a model remembers
    live.partial_fit([one["text"] for one in first], [one["labels"] for one in first]).save(home / "live")
    searches, infers = _asked(texts)
    asked = [one for pair in zip(searches, infers, strict=True) for one in pair]
    stop, learned = Event(), []
    with _served(home / "live", "--learn", "--corpus", str(home / "reuters")) as server:
        _wait_for_search(server)
        poster = Thread(target=_post, args=(server, texts, stop, learned))
        poster.start()
        began = time.perf_counter()
        load_found = _load(home, server, asked, seconds)
        stop.set()
        poster.join()
        took = time.perf_counter() - began
    known = load(home / "live").n_documents_seen_ - len(first)
    return {"load": load_found, "acknowledged": sum(learned), "lost": sum(learned) - known, "per_second": sum(learned) / took}


def _post(server: Server, texts: list[dict[str, Any]], stop: Event, learned: list[int]) -> None:
    parts = itertools.cycle(range(0, len(texts) - BATCH, BATCH))
    while not stop.is_set():
        first = next(parts)
        some = [{"text": one["text"], "labels": one["labels"]} for one in texts[first : first + BATCH]]
        learned.append(server.ask("POST", "/api/stream", {"documents": some})["learned"])


def show(result: dict[str, Any]) -> None:
    """Print what was found."""
    opening, learning = result["opening"], result["learning"]
    harness.console.print(
        f"Open after {opening['seconds']:.2f} s: {opening['topics']} topics, {opening['documents']:,} documents, "
        f"{opening['words']:,} words; others kept {opening['others']:.2f} cores busy."
    )
    rows = [
        (name, f"{one['requests'] / one['seconds']:,.0f}", f"{one['p50']:.2f}", f"{one['p99']:.2f}", f"{one['max']:.2f}",
         str(one["errors"]), f"{one['before'] / 1e6:,.0f}", f"{one['after'] / 1e6:,.0f}")
        for name, one in [*result["loads"].items(), ("both, while learning", learning["load"])]
    ]  # fmt: skip
    columns = ("asked", "a second", "median s", "99 % s", "longest s", "errors", "MB before", "MB after")
    harness.show(f"{result['clients']} clients at once", columns, rows)
    harness.console.print(
        f"Learned meanwhile: {learning['acknowledged']:,} documents, {learning['per_second']:,.0f} a second; "
        f"{learning['lost']} of those acknowledged are not in the model."
    )
    harness.show_goals(result["goals"])


if __name__ == "__main__":
    harness.alone("explorer", run, show)

"""Does a stream learn every document exactly once when it is killed fifty times at random moments?

Documents of planted labels are learned by `semascope stream`, which gets SIGKILL after a random time: while it starts, learns
again what is in its journal, learns, or saves. One half of the kills meets a file, the other lines that are sent again. The
model must be, bit for bit, that of a run that nobody disturbed, and what was acknowledged must never be lost.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks import harness
from semascope.models.loading import load

LABELS = 40
WORDS_OF_A_LABEL = 50
EARLY = 0.3
"""Share of the kills that come while the process starts, or at any time soon after; the others come while it learns."""
LONGEST = 60.0
SETTINGS = ("--seed", "0", "--save-seconds", "0.3")


def run(quick: bool) -> dict[str, Any]:
    """Learn with and without kills, and compare."""
    n_documents, n_kills = (5_000, 6) if quick else (50_000, 50)
    home = Path(tempfile.mkdtemp(prefix="semascope-faults-"))
    try:
        lines = make_documents(n_documents)
        source = home / "documents.jsonl"
        source.write_text("")
        start = _finish(home / "start", source, by_pipe=False)
        source.write_text("".join(lines))
        whole = _finish(home / "undisturbed", source, by_pipe=False)
        wanted = what_it_knows(home / "undisturbed")
        found = [_disturbed(home, lines, n_kills // 2, start, by_pipe) for by_pipe in (False, True)]
        same = sum(what_it_knows(home / one["model"]) == wanted for one in found)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    n_bad = len(lines) - n_documents
    return {
        "documents": n_documents,
        "seconds": {"start": start, "undisturbed": whole},
        "goals": [
            harness.goal("kills", sum(one["kills"] for one in found), at_least=n_kills),
            harness.goal("documents learned, of each that there are", wanted["documents"] / n_documents, at_least=1, at_most=1),
            harness.goal("bad lines set aside, of each that there are", len(wanted["bad"]) / n_bad, at_least=1, at_most=1),
            harness.goal("acknowledged and lost", sum(one["lost"] for one in found), at_most=0),
            harness.goal("models that are the same to the bit, of two", same, at_least=2),
        ],
        "found": found,
    }


def make_documents(n_documents: int) -> list[str]:
    """Make lines of documents, each with a word of its own and one to three labels, and some that hold none."""
    chance, lines = random.Random(0), []
    for number in range(n_documents):
        labels = chance.sample(range(LABELS), chance.randint(1, 3))
        words = [f"word{chance.choice(labels)}x{chance.randrange(WORDS_OF_A_LABEL)}" for _ in range(30)]
        record = {"id": str(number), "text": f"own{number} {' '.join(words)}", "labels": [f"label {one}" for one in labels]}
        lines.append(json.dumps(record) + "\n")
        if number % 997 == 5:
            lines.append(f"not a document, after {number}\n")
    return lines


def what_it_knows(path: Path) -> dict[str, Any]:
    """All that a model has learned, bit by bit, and the lines that were set aside."""
    model = load(path)
    words = model.label_words_
    bad = path.with_name(path.name + ".stream") / "bad-lines.jsonl"
    return {
        "arrays": [array.tobytes() for array in (words.ends, words.labels, words.counts, words.sizes)],
        "words": model.vocabulary_.tolist(),
        "labels": model.label_names_,
        "documents": model.n_documents_seen_,
        "bad": [json.loads(line)["text"] for line in bad.read_text().splitlines()],
    }


def _disturbed(home: Path, lines: list[str], n_kills: int, start: float, by_pipe: bool) -> dict[str, Any]:
    """Kill a stream so often, with more to learn each time, then let it end; tell what happened."""
    by = "pipe" if by_pipe else "file"
    model, source, chance = home / f"killed-{by}", home / f"{by}.jsonl", random.Random(by)
    acknowledged = lost = kills = starts = recovered = written = 0
    while kills < n_kills:
        more = (kills + 1) * len(lines) // n_kills
        with source.open("a") as file:
            file.writelines(lines[written:more])
        written, starts = more, starts + 1
        learner = _start(model, source, by_pipe, *([] if by_pipe else ["--follow"]))
        said = _killed(learner, chance.uniform(0.3, 1.2) * start if chance.random() < EARLY else None, chance.random())
        kills += learner.wait() == -signal.SIGKILL
        recovered += any("recovered" in one for one in said)
        if said:
            lost += max(0, acknowledged - said[0]["learned"])
            acknowledged = said[-1]["learned"]
    _finish(model, source, by_pipe)
    return {"model": model.name, "by": by, "kills": kills, "starts": starts, "recovered": recovered, "lost": lost}


def _killed(learner: subprocess.Popen[str], early: float | None, late: float) -> list[dict[str, Any]]:
    """Kill a stream so many seconds after its start, or else after it first acknowledged something; give what it said."""
    killers = [threading.Timer(LONGEST if early is None else early, learner.kill)]
    killers[0].start()
    said = []
    for line in learner.stdout or ():
        said += [json.loads(line)] if line.endswith("}\n") else []
        if early is None and len(killers) == 1:
            killers.append(threading.Timer(late, learner.kill))
            killers[1].start()
    for killer in killers:
        killer.cancel()
    return said


def _start(model: Path, source: Path, by_pipe: bool, *options: str) -> subprocess.Popen[str]:
    given = ["--replayed"] if by_pipe else ["--input", str(source)]
    command = [sys.executable, "-m", "semascope", "stream", str(model), "--json", *SETTINGS, *given, *options]
    with source.open() as file:
        return subprocess.Popen(command, text=True, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def _finish(model: Path, source: Path, by_pipe: bool) -> float:
    """Learn to the end; give the seconds."""
    began = time.perf_counter()
    learner = _start(model, source, by_pipe)
    learner.communicate()
    if learner.returncode:
        raise RuntimeError(f"the stream ended with {learner.returncode}")
    return time.perf_counter() - began


def show(result: dict[str, Any]) -> None:
    """Print tables."""
    harness.show_goals(result["goals"])
    rows = [[one["by"], one["kills"], one["starts"], one["recovered"], one["lost"]] for one in result["found"]]
    columns = ("source", "kills", "starts", "journals learned again", "acknowledged and lost")
    harness.show(f"{result['documents']:,} documents, each time by another source", columns, rows)


if __name__ == "__main__":
    harness.alone("stream_faults", run, show)

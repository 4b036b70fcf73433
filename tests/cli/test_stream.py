"""semascope stream: learning from lines as they come, each exactly once whatever happens."""

import gzip
import json
import os
import pty
import random
import re
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager

import pytest

import semascope as ss

WORDS = {"pets": ["cats", "dogs", "purr", "bark"], "money": ["stocks", "bonds", "rise", "fall"]}
SETTINGS = ("--particles", 3, "--seed", 1)
PATIENCE = 300
"""Seconds after which a process that says nothing is stuck; the first may have to compile."""


def documents(n, seed=0):
    """Lines of documents on two subjects; every hundredth holds none."""
    chance, lines = random.Random(seed), []
    for number in range(n):
        subject = chance.choice([*WORDS])
        record = {"id": f"d{number}", "text": " ".join(chance.choices(WORDS[subject], k=10)), "labels": [subject]}
        lines.append(json.dumps(record) if number % 100 != 50 else f"bad {number}")
    return [line + "\n" for line in lines]


def what_it_knows(path):
    """All that a model has learned, bit by bit, and where the lines are that were set aside."""
    model = ss.load(path)
    words = model.label_words_
    arrays = [array.tobytes() for array in (words.ends, words.labels, words.counts, words.sizes)]
    bad = path.with_name(path.name + ".stream") / "bad-lines.jsonl"
    numbers = [json.loads(line)["number"] for line in bad.read_text().splitlines()] if bad.exists() else []
    return arrays, model.label_names_, model.n_documents_seen_, numbers


class Streaming:
    """A process that learns, and what it acknowledges."""

    def __init__(self, *arguments, limit=""):
        script = f"{limit}\nfrom semascope.cli.main import main\nmain()"
        command = [sys.executable, "-c", script, "stream", *map(str, arguments), "--json"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.acknowledged = []

    def send(self, *lines):
        self.process.stdin.write("".join(lines).encode())
        self.process.stdin.flush()

    def wait_for(self, learned):
        """Wait until so many documents are acknowledged."""
        while not self.acknowledged or self.acknowledged[-1]["learned"] < learned:
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
            line = self.process.stdout.readline() if ready else b""
            assert line, self.process.stderr.read().decode() if ready else "it is stuck"
            self.acknowledged.append(json.loads(line))

    def end(self, signal_number=None):
        """End the input, or the process by a signal; give its exit code and what it said."""
        if signal_number:
            self.process.send_signal(signal_number)
        else:
            self.process.stdin.close()
            self.process.stdin = None
        out, err = self.process.communicate(timeout=PATIENCE)
        self.acknowledged += [json.loads(line) for line in out.splitlines() if line.endswith(b"}")]
        return self.process.returncode, err.decode()


@contextmanager
def streaming(*arguments, limit=""):
    one = Streaming(*arguments, limit=limit)
    try:
        yield one
    finally:
        one.process.kill()
        one.process.communicate()


@pytest.fixture
def feed(monkeypatch, tmp_path):
    """Have lines come by standard input."""
    with ExitStack() as files:

        def give(*lines):
            path = tmp_path / "standard input"
            path.write_text("".join(lines))
            monkeypatch.setattr("sys.stdin", files.enter_context(path.open()))

        yield give


# --- what it does --------------------------------------------------------------------------------------------------------


def test_a_stream_is_learned_and_said_what_came_of_it(run, feed, tmp_path):
    feed(*documents(300))
    ran = run("stream", tmp_path / "m", *SETTINGS)
    assert "297 documents learned, 297 in total, with 2 labels; model saved." in ran.out
    assert f"3 bad lines written to {tmp_path / 'm.stream' / 'bad-lines.jsonl'}." in ran.out
    assert "pets" in ran.out
    assert "cats" in ran.out
    follow = f"semascope stream {tmp_path / 'm'} --input FILE --follow"
    assert ran.next_commands == [f"semascope topics {tmp_path / 'm'}", follow]
    model = ss.load(tmp_path / "m")
    assert set(model.top_words("money", 4)) == set(WORDS["money"])
    assert (model.n_particles, model.random_state) == (3, 1)


def test_what_is_learned_is_acknowledged_line_by_line_for_programs(run, feed, tmp_path):
    feed(*documents(300))
    acknowledged = run("stream", tmp_path / "m", *SETTINGS, "--json").json
    assert acknowledged[-1] == {"learned": 297, "line": 300, "id": "d299", "lines": 300, "bad": 3}
    assert [one["lines"] for one in acknowledged] == [256, 300]


def test_learning_in_parts_gives_the_same_bits(run, feed, tmp_path):
    lines = documents(400)
    feed(*lines)
    run("stream", tmp_path / "whole", *SETTINGS)
    for part in (lines[:150], lines[150:151], [], lines[151:]):
        feed(*part)
        assert run("stream", tmp_path / "parts", *SETTINGS).code == 0
    assert what_it_knows(tmp_path / "parts") == what_it_knows(tmp_path / "whole")


def test_lines_sent_again_are_passed_over_only_when_told_so(run, feed, tmp_path):
    lines = documents(40)
    for n, options, learned in [(20, (), 20), (40, ("--replayed",), 40), (40, ("--replayed",), 40), (10, (), 50)]:
        feed(*lines[:n])
        assert run("stream", tmp_path / "m", *options).code == 0
        assert ss.load(tmp_path / "m").n_documents_seen_ == learned
    feed(*documents(40, seed=1))
    assert "does not begin with the 10 lines" in run("stream", tmp_path / "m", "--replayed").complaint


def test_a_file_is_learned_from_where_it_stopped(run, tmp_path):
    source, lines = tmp_path / "lines.jsonl", documents(90)
    for n in (30, 30, 90):
        source.write_text("".join(lines[:n]))
        assert run("stream", tmp_path / "m", "--input", source).code == 0
    assert ss.load(tmp_path / "m").n_documents_seen_ == 89
    packed = tmp_path / "lines.jsonl.gz"
    packed.write_bytes(gzip.compress("".join(lines[:10]).encode()))
    for _ in range(2):
        assert run("stream", tmp_path / "m", "--input", packed).code == 0
    assert ss.load(tmp_path / "m").n_documents_seen_ == 99


def test_a_named_pipe_is_read_to_its_end(run, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=["".join(documents(5))])
    writer.start()
    assert run("stream", tmp_path / "m", "--input", pipe, "--json").json[-1]["learned"] == 5
    writer.join()


def test_fields_may_have_other_names(run, feed, tmp_path):
    feed('{"headline": "cats purr", "body": "dogs bark", "tags": "pets; animals"}\n')
    fields = ("--text", "headline", "--text", "body", "--labels", "tags", "--label-separator", ";")
    assert run("stream", tmp_path / "m", *fields, "--stop-words", "english", "--stemmer", "english").code == 0
    model = ss.load(tmp_path / "m")
    assert model.label_names_ == ["pets", "animals"]
    assert sorted(model.vocabulary_) == ["bark", "cat", "dog", "purr"]


# --- what it shows -------------------------------------------------------------------------------------------------------


def test_away_from_a_terminal_a_line_says_now_and_then_how_it_goes(run, feed, tmp_path, monkeypatch):
    monkeypatch.setattr("semascope.cli.render.stream_view.LINE_SECONDS", 0)
    feed(*documents(300))
    first, last = run("stream", tmp_path / "m", *SETTINGS).err.splitlines()
    assert re.fullmatch(r"253 documents, [\d,]+ a second, perplexity [\d,]+, 2 labels, 3 bad lines", first)
    assert last.startswith("297 documents, ")


def test_on_a_terminal_a_table_shows_labels_and_their_words(tmp_path):
    source, (terminal, its_end) = tmp_path / "lines.jsonl", pty.openpty()
    source.write_text("".join(documents(300)))
    command = [sys.executable, "-m", "semascope", "stream", tmp_path / "m", "--input", source, "--follow"]
    expected = ("297, ", "perplexity", "2, 2 of them new: ", "bad lines", "last saved", "most probable words", "cats")
    with open(terminal, "rb", buffering=0) as screen:  # noqa: PTH123
        shown, learner = "", subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=its_end)
        os.close(its_end)
        deadline = time.monotonic() + PATIENCE
        try:
            while not all(what in shown for what in expected):  # one frame may take several reads
                assert select.select([screen], [], [], max(0, deadline - time.monotonic()))[0], shown
                shown += screen.read(1 << 16).decode(errors="replace")
        finally:
            learner.send_signal(signal.SIGINT)
            learner.wait(PATIENCE)


def test_words_of_any_length_leave_room_for_the_labels(run, feed, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    feed(json.dumps({"text": "w" * 5000, "labels": ["a label", "x" * 5000, "\x1b[31m"]}) + "\n")
    ran = run("stream", tmp_path / "m")
    assert all(len(line) <= 60 for line in ran.out.splitlines()[:4])
    assert re.search(r" a label +\d+\.\d% ", ran.out)
    assert "\x1b" not in ran.out


# --- what it refuses -----------------------------------------------------------------------------------------------------


def test_an_input_that_cannot_be_read_is_refused_before_a_model_is_made(run, tmp_path):
    packed, plain = tmp_path / "lines.gz", tmp_path / "lines.jsonl"
    packed.write_bytes(gzip.compress(b"{}\n"))
    plain.write_text("{}\n")
    said = {
        ("--input", tmp_path / "none"): f"{tmp_path / 'none'}: No such file or directory.",
        ("--input", tmp_path): "is a folder; a stream is a file of JSON lines",
        ("--input", packed, "--follow"): "is gzipped, so no lines can be appended",
        ("--input", plain, "--replayed"): "--replayed is for standard input",
    }
    for arguments, sentence in said.items():
        assert sentence in run("stream", tmp_path / "m", *arguments).complaint
    assert sorted(tmp_path.iterdir()) == [packed, plain]


def test_a_model_of_another_kind_is_refused(run, model, feed):
    feed(*documents(2))
    beside = sorted(model.parent.iterdir())
    assert "holds PLSA, which does not learn from a stream" in run("stream", model).complaint
    assert sorted(model.parent.iterdir()) == beside


def test_settings_that_the_model_was_not_made_with_are_refused(run, feed, tmp_path):
    feed(*documents(2))
    run("stream", tmp_path / "m", *SETTINGS)
    assert run("stream", tmp_path / "m", *SETTINGS).code == 0
    complaint = run("stream", tmp_path / "m", "--particles", 4).complaint
    assert "was created with n_particles=3, which --particles cannot change" in complaint


def test_two_processes_cannot_learn_into_one_model(run, feed, tmp_path):
    with streaming(tmp_path / "m") as first:
        first.send(*documents(1))
        first.wait_for(1)
        feed(*documents(5))
        complaint = run("stream", tmp_path / "m").complaint
        assert f"another process (PID {first.process.pid}) is learning" in complaint
        assert first.end()[0] == 0
    assert ss.load(tmp_path / "m").n_documents_seen_ == 1


# --- while it runs -------------------------------------------------------------------------------------------------------


def test_a_file_that_grows_and_is_rotated_is_followed(tmp_path):
    source, lines = tmp_path / "log.jsonl", documents(8)
    with streaming(tmp_path / "m", "--input", source, "--follow") as learner:
        source.write_text("".join(lines[:3]))
        learner.wait_for(3)
        with source.open("a") as file:
            file.write(lines[3] + lines[4][:9])
            file.flush()
            learner.wait_for(4)
            file.write(lines[4][9:])
        learner.wait_for(5)
        source.rename(tmp_path / "log.jsonl.1")
        source.write_text("".join(lines[5:]))
        learner.wait_for(8)
        code, said = learner.end(signal.SIGTERM)
    assert code == 130
    assert "was replaced by another file" in said
    assert "interrupted; 8 documents learned, 8 in total" in said
    assert ss.load(tmp_path / "m").n_documents_seen_ == 8


def test_ctrl_c_saves_and_leaves(tmp_path):
    with streaming(tmp_path / "m") as learner:
        learner.send(*documents(5))
        learner.wait_for(5)
        assert learner.end(signal.SIGINT) == (130, f"semascope: {tmp_path / 'm'}: interrupted; 5 documents learned, "
                                                   "5 in total, with 2 labels; model saved.\n")  # fmt: skip
    assert ss.load(tmp_path / "m").n_documents_seen_ == 5
    assert not [*(tmp_path / "m.stream").glob("journal-*")]


@pytest.mark.parametrize("way", ["a file that grows", "lines sent again"])
def test_a_stream_killed_again_and_again_learns_every_line_once(way, run, feed, tmp_path):
    lines, chance, acknowledged = documents(4000), random.Random(time.time_ns()), 0
    source, model = tmp_path / "lines.jsonl", tmp_path / "killed"
    by_file, by_pipe = ("--input", source, "--follow"), ("--replayed",)
    for n in (1000, 2000, 3000):
        source.write_text("".join(lines[:n]))
        with streaming(model, *(by_pipe if "again" in way else by_file), *SETTINGS, "--save-seconds", 0.05) as learner:
            if "again" in way:
                learner.send(*lines[:n])
            learner.wait_for(chance.randrange(acknowledged, n * 99 // 100) + 1)
            time.sleep(chance.random() * 0.05)
            learner.end(signal.SIGKILL)
        assert learner.acknowledged[0]["learned"] >= acknowledged, "what was acknowledged is not lost"
        acknowledged = learner.acknowledged[-1]["learned"]
    source.write_text("".join(lines))
    feed(*lines)
    assert run("stream", model, *(by_pipe if "again" in way else by_file[:2])).code == 0
    feed(*lines)
    assert run("stream", tmp_path / "undisturbed", *SETTINGS).code == 0
    assert what_it_knows(model) == what_it_knows(tmp_path / "undisturbed")
    assert what_it_knows(model)[2:] == (3960, [100 * number + 51 for number in range(40)])


def test_where_there_is_no_more_room_nothing_acknowledged_is_lost(run, tmp_path):
    source, model = tmp_path / "lines.jsonl", tmp_path / "m"
    source.write_text("".join(documents(3000)))
    run("stream", tmp_path / "before", "--input", source, *SETTINGS)  # nothing is left to be compiled, which takes room too
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))"
    with streaming(model, "--input", source, *SETTINGS, limit=limit) as learner:
        code, said = learner.end()
    assert code == 1
    assert said.count("\n") == 1
    assert "File too large; nothing that was acknowledged is lost, and the next start continues after it." in said
    acknowledged = learner.acknowledged[-1]["learned"]
    assert 0 < acknowledged < 2970
    ran = run("stream", model, "--input", source, "--json")
    assert ran.json[0] == {"learned": acknowledged, "recovered": acknowledged}
    assert ran.json[-1]["learned"] == 2970
    assert what_it_knows(model) == what_it_knows(tmp_path / "before")

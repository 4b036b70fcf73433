"""The journal of a stream, and what a model has learned after a crash at any moment."""

import errno
import json
import os
import random

import pytest

import semascope as ss
from semascope.errors import FormatError, InputError
from semascope.models.online_labeled_lda import OnlineLabeledLDA
from semascope.streaming.durable import DurableStream, open_stream
from semascope.streaming.journal import MAGIC, Journal
from semascope.streaming.model_folder import BadLines, folder_of, locked
from semascope.streaming.records import Line, StreamFields
from semascope.streaming.source import Batch

FIELDS = StreamFields()
RECORDS = [
    ({"line": 2}, [Line(b'{"text": "cat"}'), Line(b"")]),
    ({"line": 3}, [Line(b"\xff\x00 no JSON", too_long=True)]),
    ({"line": 5}, [Line("schön".encode()), Line(b"x" * 300)]),
]


def journal_with(folder, records, learned=0):
    """Write a journal, and give the byte at which each record ends."""
    folder.mkdir(exist_ok=True)
    journal = Journal(folder, learned)
    ends = [len(MAGIC) + (journal.append(facts, lines) and journal.size) for facts, lines in records]
    journal.close()
    return ends


def recovered(folder, learned=0):
    return [(record.facts, record.lines) for record in Journal(folder, learned).recover()]


# --- the journal ---------------------------------------------------------------------------------------------------------


def test_a_journal_gives_back_what_it_was_given(tmp_path):
    journal_with(tmp_path, RECORDS)
    assert recovered(tmp_path) == RECORDS


def test_records_that_the_model_has_learned_are_not_given_again(tmp_path):
    journal_with(tmp_path, RECORDS)
    assert recovered(tmp_path, learned=2) == RECORDS[2:]
    assert recovered(tmp_path, learned=3) == []


def test_a_journal_cut_off_at_any_byte_gives_all_whole_records_and_goes_on(tmp_path):
    ends = journal_with(tmp_path / "whole", RECORDS)
    (path,) = (tmp_path / "whole").iterdir()
    content = path.read_bytes()
    assert ends[-1] == len(content)
    for size in range(len(content) + 1):
        folder = tmp_path / f"cut at {size}"
        folder.mkdir()
        (folder / path.name).write_bytes(content[:size])
        whole = sum(size >= end for end in ends)
        journal = Journal(folder, 0)
        assert [(record.facts, record.lines) for record in journal.recover()] == RECORDS[:whole]
        assert journal.last == whole
        journal.clear()
        journal.append(*RECORDS[0])
        journal.close()
        assert recovered(folder, learned=whole) == RECORDS[:1]


def test_a_last_record_of_which_any_byte_is_wrong_is_cut_off(tmp_path):
    ends = journal_with(tmp_path, RECORDS)
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    for place in range(ends[1], len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        assert recovered(tmp_path) == RECORDS[:2]
        assert path.stat().st_size == ends[1]


def test_damage_before_the_last_record_is_refused_rather_than_cut_off(tmp_path):
    journal_with(tmp_path, RECORDS)
    (path,) = tmp_path.iterdir()
    content = bytearray(path.read_bytes())
    content[60] ^= 1
    path.write_bytes(content)
    with pytest.raises(FormatError, match="was altered"):
        recovered(tmp_path)
    assert path.read_bytes() == content


def test_a_journal_that_does_not_follow_on_the_model_is_refused(tmp_path):
    journal_with(tmp_path, RECORDS, learned=7)
    with pytest.raises(FormatError, match="begins with record 8, but the model has learned 5"):
        recovered(tmp_path, learned=5)


def test_what_could_not_be_put_on_disk_is_not_in_the_journal(tmp_path, monkeypatch):
    journal = Journal(tmp_path, 0)
    journal.append(*RECORDS[0])
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(OSError, match="No space left on device"):
        journal.append(*RECORDS[1])
    monkeypatch.setattr(os, "fsync", sync)
    assert recovered(tmp_path) == RECORDS[:1]
    journal.append(*RECORDS[1])  # there is room again
    journal.close()
    assert recovered(tmp_path) == RECORDS[:2]


def test_a_second_process_is_refused(tmp_path):
    model = tmp_path / "model"
    for _ in range(2):  # the lock is gone with its holder
        with (
            locked(tmp_path, model),
            pytest.raises(InputError, match=rf"another process.*{os.getpid()}"),
            locked(tmp_path, model),
        ):
            pass


# --- a model that learns -------------------------------------------------------------------------------------------------

SUBJECTS = {"pets": ["cats", "dogs", "purr", "bark"], "money": ["stocks", "bonds", "rise", "fall"]}


def batches(n=12, size=5):
    """Lines of documents on two subjects; one in seven is bad."""
    chance, line, made = random.Random(0), 0, []
    for _ in range(n):
        lines = []
        for _ in range(size):
            subject = chance.choice([*SUBJECTS])
            record = {"text": " ".join(chance.choices(SUBJECTS[subject], k=8)), "labels": [subject, "all"]}
            line += 1
            lines.append(Line(b"bad %d" % line if line % 7 == 0 else json.dumps(record).encode()))
        made.append(Batch(lines, line, {"line": line}))
    return made


def new_model():
    return OnlineLabeledLDA(n_particles=3, n_initial=20, random_state=0)


def learn_all(path, save_every=3):
    """Learn what is left, as after a restart; save now and then."""
    with open_stream(path, new_model) as stream:
        done = (stream.position("-") or {"line": 0})["line"]
        for number, batch in enumerate(batches()):
            if batch.line > done:
                stream.learn(batch, "-", FIELDS)
                if number % save_every == save_every - 1:
                    stream.save()


def what_it_knows(path):
    """All that a model has learned, bit by bit, and the lines that were set aside."""
    model = ss.load(path)
    words = model.label_words_
    arrays = [array.tobytes() for array in (words.ends, words.labels, words.counts, words.sizes)]
    bad = (folder_of(path) / "bad-lines.jsonl").read_text()
    return arrays, model.label_names_, model.n_documents_seen_, model.stream_, bad


class Crash(BaseException):
    """The end of a process."""


def crash_at(monkeypatch, moment, owner, name, *, after):
    """Have the process end before or after the given call of a function."""
    original, calls = getattr(owner, name), []

    def crashing(*arguments, **options):
        calls.append(1)
        if len(calls) == moment and not after:
            raise Crash
        result = original(*arguments, **options)
        if len(calls) == moment:
            raise Crash
        return result

    monkeypatch.setattr(owner, name, crashing)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    path = tmp_path_factory.mktemp("undisturbed") / "model"
    learn_all(path)
    return what_it_knows(path)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("moment", [1, 2, 4])
@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (Journal, "append"),
        (OnlineLabeledLDA, "partial_fit"),
        (BadLines, "add"),
        (DurableStream, "save"),
        (OnlineLabeledLDA, "save"),
        (Journal, "clear"),
    ],
)
def test_after_a_crash_at_any_step_every_line_is_learned_once(owner, name, moment, after, tmp_path, monkeypatch, undisturbed):
    with monkeypatch.context() as patch:
        crash_at(patch, moment, owner, name, after=after)
        with pytest.raises(Crash):
            learn_all(tmp_path / "model")
    learn_all(tmp_path / "model")
    assert what_it_knows(tmp_path / "model") == undisturbed


def test_bad_lines_are_set_aside_with_their_place_and_reason(undisturbed):
    *_, n_documents, state, bad = undisturbed
    lines = [json.loads(line) for line in bad.splitlines()]
    assert [line["line"] for line in lines] == [line["number"] for line in lines] == [7 * n for n in range(1, 9)]
    assert lines[0] | {"source": "-", "text": "bad 7"} == lines[0]
    assert lines[0]["reason"].startswith("not JSON")
    assert (n_documents, state["lines"], state["bad"]) == (52, 60, 8)


def test_the_journal_is_empty_after_the_model_is_saved(tmp_path):
    learn_all(tmp_path / "model")
    assert sorted(entry.name for entry in folder_of(tmp_path / "model").iterdir()) == ["bad-lines.jsonl", "lock"]


def test_another_kind_of_model_is_refused_and_left_alone(tmp_path):
    ss.LDA(1, max_iter=1, random_state=0).fit(["cats purr"]).save(tmp_path / "model")
    with (
        pytest.raises(InputError, match="holds LDA, which does not learn from a stream"),
        open_stream(tmp_path / "model", new_model),
    ):
        pass
    assert ss.load(tmp_path / "model").n_components == 1


def test_a_journal_whose_model_is_gone_is_refused(tmp_path):
    learn_all(tmp_path / "model")
    (tmp_path / "model").rename(tmp_path / "elsewhere")
    with (
        pytest.raises(FormatError, match="belongs to a model that is no longer at"),
        open_stream(tmp_path / "model", new_model),
    ):
        pass


def test_a_model_that_went_elsewhere_goes_on_without_its_journal(tmp_path, undisturbed):
    path = tmp_path / "model"
    with open_stream(path, new_model) as stream:
        for batch in batches()[:6]:
            stream.learn(batch, "-", FIELDS)
    path.rename(tmp_path / "elsewhere")
    learn_all(tmp_path / "elsewhere")
    assert what_it_knows(tmp_path / "elsewhere")[:3] == undisturbed[:3]

"""Lines of a stream: how they are cut, the documents in them, and where reading goes on."""

import gzip
import json
import os
from contextlib import ExitStack, closing

import pytest

from semascope.corpus.readers.files import open_bytes
from semascope.errors import SourceError
from semascope.streaming.records import MAX_LINE_LENGTH, Document, Line, StreamFields, UnreadableError
from semascope.streaming.source import STANDARD_INPUT, Packed, Pipe, Splitter
from semascope.streaming.tail import PATIENCE, LinesOfFile

FIELDS = StreamFields()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_lines_do_not_depend_on_how_their_bytes_arrive(size):
    content = b"one\ntwo two\n\nthree\r\n" + "schön".encode() + b"\nlast"
    splitter, found = Splitter(), []
    for start in range(0, len(content), size):
        found += splitter.feed(content[start : start + size])
    found += splitter.finish()
    assert [line.content for line, _ in found] == [b"one", b"two two", b"", b"three\r", "schön".encode(), b"last"]
    assert sum(n_bytes for _, n_bytes in found) == len(content)


def test_a_line_that_is_too_long_is_not_kept_whole():
    splitter = Splitter()
    for _ in range(20):
        assert splitter.feed(b"x" * (1 << 20)) == []
    ((line, size), (after, _)) = splitter.feed(b"y\nshort\n")
    assert line.too_long
    assert len(line.content) == 1000
    assert size == 20 * (1 << 20) + 2
    assert after == Line(b"short")
    exactly = Splitter().feed(b"x" * MAX_LINE_LENGTH + b"\n")
    assert [line.too_long for line, _ in exactly] == [False]


@pytest.mark.parametrize(
    ("line", "document"),
    [
        ('{"id": "a", "text": "cats purr", "labels": ["x", "y"]}', Document("a", "cats purr", ["x", "y"])),
        ('{"id": 7, "text": "cats purr", "labels": "x"}', Document("7", "cats purr", ["x"])),
        ('{"text": "cats"}', Document(None, "cats", [])),
        ('{"text": "cats", "labels": null}', Document(None, "cats", [])),
        ('{"text": "cats", "labels": ["", "x", null, "x"]}', Document(None, "cats", ["x"])),
        ('\ufeff{"text": ""}\r', Document(None, "", [])),
        ('{"text": "\\ud83d\\ude00"}', Document(None, "\U0001f600", [])),
        ("  \t ", None),
    ],
)
def test_a_line_gives_its_document(line, document):
    assert FIELDS.document(Line(line.encode())) == document


def test_a_thousand_labels_are_fine_and_separators_part_them():
    names = [f"label {number}" for number in range(1000)]
    line = Line(json.dumps({"text": "cats", "labels": names}).encode())
    assert FIELDS.document(line).labels == names
    parted = StreamFields(text=("title", "text"), labels="tags", label_separator=";")
    assert parted.document(Line(b'{"title": "a", "text": "b", "tags": "x; y;;x"}')) == Document(None, "a\nb", ["x", "y"])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "not JSON (Expecting property name enclosed in double quotes at character 1)"),
        (b"[1]", "expected a JSON object, found a list"),
        (b'{"txt": "cats"}', "no field 'text'"),
        (b'{"text": 7}', "the field 'text' must be a string, but was a number"),
        (b'{"text": null}', "the field 'text' must be a string, but was null"),
        (b'{"text": "a", "labels": [1]}', "the field 'labels' must be a string, but was a number"),
        (b'{"text": "a", "labels": {"x": 1}}', "the field 'labels' must be a string, but was an object"),
        (b'{"text": "a\\u0000"}', "the field 'text' holds a zero character"),
        (b'{"text": "a\\ud83d"}', "the field 'text' holds half a character (a lone surrogate), as truncated texts do"),
        (b'{"text": "a\0"}', "not JSON (Invalid control character at character 11)"),
        (b'{"text": "\xff"}', "not UTF-8 (byte 0xff at position 10)"),
        (b'{"text": ' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_line_without_a_document_says_why(line, reason):
    with pytest.raises(UnreadableError) as refused:
        FIELDS.document(Line(line))
    assert str(refused.value) == reason


# --- pipes ---------------------------------------------------------------------------------------------------------------


def all_of(source, most=100):
    """Take all that a source has, at most so many batches; give the lines and the last position."""
    lines, position = [], None
    for _ in range(most):
        batch = source.take()
        if batch is None:
            break
        lines += [line.content.decode() for line in batch.lines]
        position = batch.position
    return lines, position


@pytest.fixture
def piped():
    """Make a source that reads some content from a real pipe."""
    with ExitStack() as files:

        def source(content, before=None):
            reading, writing = os.pipe()
            with os.fdopen(writing, "wb") as file:
                file.write(content)
            return Pipe(files.enter_context(os.fdopen(reading, "rb")), STANDARD_INPUT, before)

        yield source


def test_the_last_line_of_a_pipe_needs_no_end(piped):
    lines, position = all_of(piped(b"one\ntwo"))
    assert lines == ["one", "two"]
    assert position["line"] == 2


def test_lines_that_are_sent_again_are_passed_over(piped):
    _, position = all_of(piped(b"one\ntwo"))
    lines, after = all_of(piped(b"one\ntwo\nthree\n", position))
    assert lines == ["three"]
    assert after["line"] == 3
    assert all_of(piped(b"one\ntwo\n", position)) == ([], position)


def test_other_lines_than_those_learned_before_are_refused(piped):
    _, position = all_of(piped(b"one\ntwo\n"))
    with pytest.raises(SourceError, match="does not begin with the 2 lines"):
        all_of(piped(b"one\nother\nthree\n", position))
    with pytest.raises(SourceError, match="ended after 1 lines, but 2"):
        all_of(piped(b"one\n", position))


def test_many_lines_come_in_batches_with_a_position_after_each(piped):
    content = b"".join(b"%d\n" % number for number in range(600))
    source = piped(content)
    sizes, position = [], None
    for _ in range(2):
        batch = source.take()
        sizes.append(len(batch.lines))
        position = batch.position
    assert sizes == [256, 256]
    lines, _ = all_of(piped(content, position))
    assert lines == [str(number) for number in range(512, 600)]


def test_a_gzipped_file_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "lines.jsonl.gz"

    def lines_after(position):
        with closing(Packed(open_bytes(path), str(path), position)) as source:
            return all_of(source)

    path.write_bytes(gzip.compress(b"one\ntwo\n"))
    _, position = lines_after(None)
    path.write_bytes(gzip.compress(b"one\ntwo\nthree"))
    assert lines_after(position)[0] == ["three"]
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(SourceError, match="cut short or damaged"):
        lines_after(None)


# --- files ---------------------------------------------------------------------------------------------------------------


class Watched:
    """A file that is followed, and what was said of it."""

    def __init__(self, path, before=None, follow=True):
        self.said = []
        self.source = LinesOfFile(path, before, follow=follow, say=self.said.append)

    def take(self, n_lines=None):
        """Wait for so many lines, but not for ever; without a number, for what comes in a moment."""
        lines = []
        for _ in range(2 if n_lines is None else int(8 * (PATIENCE + 5))):
            batch = self.source.take()
            if batch is None:
                break
            self.position = batch.position
            lines += [line.content.decode() for line in batch.lines]
            if n_lines is not None and len(lines) >= n_lines:
                break
        return lines


def append(path, content):
    with path.open("a") as file:
        file.write(content)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("one\ntwo\n")
    return path


def test_a_file_that_grows_is_followed_by_whole_lines(log):
    file = Watched(log)
    assert file.take(2) == ["one", "two"]
    append(log, "thr")
    assert file.take() == []
    append(log, "ee\nfo")
    assert file.take(1) == ["three"]
    assert file.position["line"] == 3
    assert file.said == []


def test_reading_goes_on_after_the_last_line_that_was_taken(log):
    append(log, "".join(f"{number}\n" for number in range(300)))
    file = Watched(log)
    assert len(file.take(256)) == 256
    again = Watched(log, file.position, follow=False)
    assert again.take(100) == [str(number) for number in range(254, 300)]
    assert again.position["line"] == 302
    assert again.said == []


def test_a_file_that_is_renamed_is_read_to_its_end_before_the_one_in_its_place(log):
    file = Watched(log)
    assert file.take(2) == ["one", "two"]
    log.rename(log.with_name("log.jsonl.1"))
    append(log.with_name("log.jsonl.1"), "three\n")
    log.write_text("four\n")
    append(log.with_name("log.jsonl.1"), "half")
    assert file.take(3) == ["three", "half", "four"]
    assert file.position["line"] == 1
    assert len(file.said) == 1
    assert "was replaced by another file" in file.said[0]


@pytest.mark.parametrize("content", ["new\n", "a much longer beginning\n"])
def test_a_file_that_is_emptied_or_written_anew_is_read_from_its_start(log, content):
    file = Watched(log)
    assert file.take(2) == ["one", "two"]
    log.write_text(content)
    assert file.take(1) == [content.rstrip()]
    assert len(file.said) == 1
    assert "truncated or rewritten" in file.said[0]


def test_a_file_renamed_or_copied_while_nobody_followed_is_found_again(log):
    file = Watched(log)
    file.take(2)
    append(log, "three\n")
    log.with_name("log.jsonl.1").write_bytes(log.read_bytes())
    log.write_text("four\n")
    again = Watched(log, file.position, follow=False)
    assert again.take(2) == ["three", "four"]
    assert (again.position["line"], again.position["offset"]) == (1, len("four\n"))
    assert "was rotated to log.jsonl.1" in again.said[0]


def test_another_file_by_the_same_name_is_noticed(log):
    file = Watched(log)
    file.take(2)
    log.write_text("one\nother\nthree\n")
    again = Watched(log, file.position, follow=False)
    assert again.take(3) == ["one", "other", "three"]
    assert "is not the file learned from before" in again.said[0]


def test_a_file_may_come_later(tmp_path):
    file = Watched(tmp_path / "late.jsonl")
    assert file.take() == []
    (tmp_path / "late.jsonl").write_text("one\n")
    assert file.take(1) == ["one"]
    assert "waiting for it" in file.said[0]
    with pytest.raises(FileNotFoundError):
        Watched(tmp_path / "none.jsonl", follow=False)


def test_an_only_line_without_end_may_begin_with_a_mark(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"text": "one"}', encoding="utf-8-sig")
    assert Watched(path, follow=False).take(1) == ['\ufeff{"text": "one"}']


def test_a_last_line_without_end_is_taken_when_it_is_whole_and_left_otherwise(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"text": "one"}\n{"text": "two"}')
    file = Watched(path, follow=False)
    assert file.take(3) == ['{"text": "one"}', '{"text": "two"}']
    append(path, '\n{"text": "thr')
    again = Watched(path, file.position, follow=False)
    assert again.take(1) == []
    assert "is incomplete" in again.said[0]
    append(path, 'ee"}\n')
    last = Watched(path, file.position, follow=False)
    assert last.take(1) == ['{"text": "three"}']
    assert last.position["line"] == 3

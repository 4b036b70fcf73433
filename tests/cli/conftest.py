"""What the tests of the command line share: running it in this process, and a small source of documents."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from semascope.cli.main import main

ANIMALS = ["cat", "dog", "horse", "bird", "fish"]
MONEY = ["tax", "bank", "loan", "stock", "coin"]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "large: reads or writes a hundred megabytes; takes seconds.")


@dataclass(frozen=True)
class Ran:
    """What a command left: its exit code, what it printed, and what it complained of."""

    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """The one sentence of a command that refused, without the program's name."""
        assert self.code != 0, self.out
        assert self.out == ""
        assert self.err.startswith("semascope: "), self.err
        assert self.err.endswith("\n")
        assert self.err.count("\n") == 1, "one sentence, on one line"
        return self.err.removeprefix("semascope: ").rstrip("\n")

    @property
    def json(self) -> list[Any]:
        """What was printed as JSON, line by line."""
        assert self.code == 0, self.err
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def next_commands(self) -> list[str]:
        """The commands that the last lines say to go on with."""
        assert self.code in (0, 130), self.err
        lines = [line.split(":", 1) for line in self.out.splitlines() if line.lstrip().startswith(("Next:", "or:"))]
        assert lines, "every command says what to do next"
        assert self.out.rstrip().endswith(lines[-1][1]), "and says it last"
        return [command.strip() for _, command in lines]


Run = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line; an exception that a user would see as a traceback fails the test."""
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "250")  # paths stay on one line

    def run_command(*arguments: object) -> Ran:
        monkeypatch.setattr("sys.argv", ["semascope", *map(str, arguments)])
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        return Ran(code, *capsys.readouterr())

    return run_command


def as_lines(*records: Any) -> str:
    """Give records as JSON lines; strings are taken as lines already."""
    return "".join((record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records)


@pytest.fixture(name="as_lines")
def as_lines_fixture() -> Callable[..., str]:
    return as_lines


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Sixty documents on two subjects that share no word."""
    chance = random.Random(0)
    records = [
        {
            "id": f"doc{number}",
            "text": " ".join(chance.choices(MONEY if number % 2 else ANIMALS, k=20)),
            "labels": ["money" if number % 2 else "animals"],
            "title": f"Number {number}",
            "author": "somebody",
        }
        for number in range(60)
    ]
    path = tmp_path / "source.jsonl"
    path.write_text(as_lines(*records))
    return path


@pytest.fixture
def corpus(run: Run, source: Path, tmp_path: Path) -> Path:
    assert run("build", source, tmp_path / "corpus").code == 0
    return tmp_path / "corpus"


@pytest.fixture
def model(run: Run, corpus: Path, tmp_path: Path) -> Path:
    assert run("fit", corpus, tmp_path / "model", "--topics", 2).code == 0
    return tmp_path / "model"

"""What the README shows works as printed."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from semascope.cli.main import main

README = Path(__file__).parents[2] / "README.md"
BLOCKS = re.findall(r"^```(python|console)\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    for language, block in BLOCKS:
        if language == "python":
            exec(compile(block, str(README), "exec"), names)
    assert len(capsys.readouterr().out.splitlines()) >= 20


def test_the_commands_of_the_readme_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    commands = [line[2:] for language, block in BLOCKS if language == "console" for line in block.splitlines()]
    commands = [shlex.split(line.split(" > ")[0]) for line in commands if line.startswith("semascope")]
    assert len(commands) >= 5
    for command in commands:
        monkeypatch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit) as stopped:
            main()
        assert stopped.value.code == 0
        assert capsys.readouterr().out

"""Environments of other people's packages, made when they are first needed: they want versions that we do not.

requirements/NAME.txt says what goes into .environments/NAME. When the file changes, the environment is made anew.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
HOME = HERE / ".environments"
NEWEST_PYTHON = {"bigartm": (3, 11)}
"""The last Python that a package has wheels for, where it is not the newest."""


class NoEnvironmentError(Exception):
    """Packages could not be installed; the message says why."""


def python_of(name: str) -> Path:
    """The interpreter of an environment, which is made if it is not there."""
    wanted = requirements(name)
    environment = HOME / name
    python = environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    made_of = environment / "requirements.txt"
    if not made_of.exists() or made_of.read_text().split() != wanted:
        shutil.rmtree(environment, ignore_errors=True)
        _run([_base_python(name), "-m", "venv", str(environment)])
        _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted])
        made_of.write_text("\n".join(wanted))  # last, so that half an environment is not taken for a whole one
    return python


def requirements(name: str) -> list[str]:
    """What an environment is made of: packages with their versions."""
    return (HERE / "requirements" / f"{name}.txt").read_text().split()


def _base_python(name: str) -> str:
    newest = NEWEST_PYTHON.get(name, sys.version_info[:2])
    if sys.version_info[:2] <= newest:
        return sys.executable
    older = "python{}.{}".format(*newest)
    found = shutil.which(older)
    if not found:
        raise NoEnvironmentError(f"{name} needs {older} or older, which is not here")
    return found


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise NoEnvironmentError(f"{' '.join(command)} failed: {said[-1] if said else 'it says nothing'}")

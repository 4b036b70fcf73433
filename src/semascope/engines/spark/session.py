"""A Spark session to work in, and what Spark says in Java put into a sentence."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from semascope.errors import InputError, MissingExtraError

SETTINGS = {
    "spark.app.name": "semascope",
    "spark.driver.maxResultSize": "0",
    "spark.broadcast.compress": "false",
    "spark.broadcast.checksum": "false",
    "spark.broadcast.blockSize": "64m",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
"""For a session that is started here: tables may be large, and to cut them up, compress and check them takes longer than to
send them."""

SENTENCES = {
    r"\[PYTHON_VERSION_MISMATCH\]\D*([\d.]+)\D+([\d.]+),": "the workers have Python {0}, but {1} runs here: "
    "let PYSPARK_PYTHON name a Python {1} on the workers, with semascope installed.",
    r"ModuleNotFoundError: No module named '([\w.]+)'": "Python on the workers has no package {0}: "
    "let PYSPARK_PYTHON name one with semascope installed, or install it there.",
    r'Cannot run program "([^"]+)"': "the workers have no program {0}: let PYSPARK_PYTHON name their Python.",
}
"""Signs of what is wrong in the texts of failed jobs, and what to say then."""

JAVA_NEEDED = "Spark needs Java 17 or later"


def session_for(master: str | None) -> Any:
    """Return the active session, or start one; with a master, one of that master."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        msg = f"the Spark engine needs pyspark ({error}): pip install 'semascope[spark]'"
        raise MissingExtraError(msg) from None
    active = SparkSession.getActiveSession()
    if active is not None:
        running = active.sparkContext.master
        if master is not None and master != running:
            msg = f"a Spark session of {running} is active already, so none of {master} can start: stop it, or give no master."
            raise InputError(msg)
        return active
    _check_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    with own_ctrl_c():
        try:
            session = (builder.master(master) if master else builder).getOrCreate()
        except Exception as error:
            msg = f"Spark did not start with master {master or 'as configured'}: {why_not_started(str(error))}"
            raise InputError(msg) from error
    atexit.register(session.stop)  # a cluster that only finds us gone complains at length
    return session


@contextmanager
def own_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C mean what it did: Spark would have it cancel the iteration under way, and the model so far would be lost."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(home, "bin") if home else None)  # noqa: PTH118
    if java is None:
        where = f"JAVA_HOME is {home}, where there is none" if home else "no java is on the PATH"
        msg = f"{JAVA_NEEDED}, but {where}: install it (Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME."
        raise MissingExtraError(msg)


def why_not_started(text: str) -> str:
    """Why there is no session. Of a master that cannot be reached Spark says only that it has stopped meanwhile."""
    if "stopped SparkContext" in text:
        return "it was not reached; see that the cluster runs, and that this machine can connect to it."
    return first_sentence(text)


def first_sentence(text: str) -> str:
    """The first line of a message that says something."""
    lines = (line.strip(" :") for line in text.splitlines())
    return next(
        (line for line in lines if line and not line.startswith(("at ", "Traceback", "An error occurred"))), "no reason given"
    )


def sentence_of(text: str) -> str:
    """What a failed job of Spark says, in one sentence."""
    for sign, sentence in SENTENCES.items():
        found = re.search(sign, text)
        if found:
            return sentence.format(*found.groups())
    of_python: list[str] = re.findall(
        r"^\s*((?!org\.|py4j\.|java)[\w.]+(?:Error|Exception|Interrupt): .*)$", text, flags=re.MULTILINE
    )
    if "Error from python worker" in text and of_python:
        return (
            f"Python does not start on the workers ({of_python[-1].rstrip('.')}): let PYSPARK_PYTHON name the one to use there."
        )
    said = of_python[-1] if of_python else first_sentence(text)
    return f"{said.rstrip('.')}."

"""Spark session, and readable messages for Spark's errors."""

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
"""Settings of a session started here. Tables may be large: splitting, compressing and checking them costs more than sending."""

MESSAGES = {
    r"\[PYTHON_VERSION_MISMATCH\]\D*([\d.]+)\D+([\d.]+),": "the workers have Python {0}, but {1} runs here: "
    "let PYSPARK_PYTHON name a Python {1} on the workers, with semascope installed.",
    r"ModuleNotFoundError: No module named '([\w.]+)'": "Python on the workers has no package {0}: "
    "let PYSPARK_PYTHON name one with semascope installed, or install it there.",
    r'Cannot run program "([^"]+)"': "the workers have no program {0}: let PYSPARK_PYTHON name their Python.",
}
"""Patterns in the messages of failed jobs, and the message for each."""

JAVA_NEEDED = "Spark needs Java 17 or later"


def session_for(master: str | None) -> Any:
    """Return the active session or start one, on the given master if any."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        msg = f"the Spark engine needs pyspark ({error}): pip install 'semascope[spark]'"
        raise MissingExtraError(msg) from None
    active = SparkSession.getActiveSession()
    if active is not None:
        running = active.sparkContext.master
        if master is not None and master != running:
            msg = f"a Spark session on {running} is active already, so none can start on {master}: stop it, or omit the master."
            raise InputError(msg)
        return active
    _check_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    with preserve_ctrl_c():
        try:
            session = (builder.master(master) if master else builder).getOrCreate()
        except Exception as error:
            msg = f"Spark did not start with master {master or 'as configured'}: {describe_start_failure(str(error))}"
            raise InputError(msg) from error
    atexit.register(session.stop)  # otherwise the cluster logs a long traceback
    return session


@contextmanager
def preserve_ctrl_c() -> Iterator[None]:
    """Restore the Ctrl-C handler afterwards: that of Spark cancels the iteration and loses the model so far."""
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(home, "bin") if home else None)  # noqa: PTH118
    if java is None:
        where = f"JAVA_HOME is {home}, where there is none" if home else "no java is on the PATH"
        msg = f"{JAVA_NEEDED}, but {where}: install it (Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME."
        raise MissingExtraError(msg)


def describe_start_failure(text: str) -> str:
    """Return why no session started. For an unreachable master, Spark only reports a stopped context."""
    if "stopped SparkContext" in text:
        return "it was not reached; check that the cluster runs and that this machine can connect to it."
    return first_line(text)


def first_line(text: str) -> str:
    """Return the first informative line of a message."""
    lines = (line.strip(" :") for line in text.splitlines())
    return next(
        (line for line in lines if line and not line.startswith(("at ", "Traceback", "An error occurred"))), "no reason given"
    )


def describe_failure(text: str) -> str:
    """Return the message of a failed Spark job as one sentence."""
    for pattern, sentence in MESSAGES.items():
        match = re.search(pattern, text)
        if match:
            return sentence.format(*match.groups())
    python_errors: list[str] = re.findall(
        r"^\s*((?!org\.|py4j\.|java)[\w.]+(?:Error|Exception|Interrupt): .*)$", text, flags=re.MULTILINE
    )
    if "Error from python worker" in text and python_errors:
        reason = python_errors[-1].rstrip(".")
        return f"Python does not start on the workers ({reason}): let PYSPARK_PYTHON name the one to use there."
    summary = python_errors[-1] if python_errors else first_line(text)
    return f"{summary.rstrip('.')}."

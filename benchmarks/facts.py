"""What a number is worth nothing without: the machine, versions of all packages, and which sources were measured."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import semascope
from benchmarks import environments

PACKAGES = ("semascope", "numpy", "scipy", "numba", "scikit-learn", "polars")
HERE = {"scikit-learn": "scikit-learn", "bm25s": "bm25s", "Spark MLlib": "pyspark"}
"""Peers that are installed beside semascope, and their packages."""
ELSEWHERE = {"tomotopy": ("peers", "tomotopy"), "gensim": ("peers", "gensim"), "BigARTM": ("bigartm", "bigartm10")}
"""Peers that have environments of their own."""
ROOT = Path(__file__).parents[1]


def machine() -> dict[str, Any]:
    """Processor, system, and versions of what we stand on."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "system": platform.platform(),
        "python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
    }


def peers() -> dict[str, str]:
    """Versions of those that we are compared with."""
    found = {}
    for name, package in HERE.items():
        try:
            found[name] = version(package)
        except PackageNotFoundError:
            found[name] = "not installed"
    for name, (environment, package) in ELSEWHERE.items():
        pinned = dict(line.split("==") for line in environments.requirements(environment))
        found[name] = pinned[package]
    return found


def sources() -> str:
    """A hash of the sources of semascope: numbers belong to one version of them."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(Path(semascope.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def revision() -> str:
    """The commit, with a plus if sources or benchmarks were changed since; "unknown" outside a repository."""
    commit = _git("rev-parse", "--short", "HEAD")
    changed = commit and _git("status", "--porcelain", "--", "src", "benchmarks")
    return f"{commit}+" if changed else commit or "unknown"


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()

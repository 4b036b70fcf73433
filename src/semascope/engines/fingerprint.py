"""Versions and processor features that all processes of a run must share to compute the same bits."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence


def fingerprint() -> dict[str, str]:
    """Return the versions and processor features that results depend on."""
    import llvmlite.binding as llvm
    import numba
    import numpy

    from semascope import __version__

    features = llvm.get_host_cpu_features().flatten()
    return {
        "semascope": __version__,
        "Python": platform.python_version(),
        "numpy": numpy.__version__,
        "numba": numba.__version__,
        "processor": f"{llvm.get_host_cpu_name()} ({hashlib.blake2b(features.encode(), digest_size=4).hexdigest()})",
    }


def fingerprint_difference(processes: Sequence[tuple[str, dict[str, str]]]) -> str | None:
    """Return how a named process differs from the first, or None if all agree."""
    first, expected = processes[0]
    for process, actual in processes:
        for name, value in expected.items():
            if actual.get(name) != value:
                return (
                    f"{process} has {name} {actual.get(name)}, but {first} has {name} {value}: their results would differ; "
                    "use the same package versions and the same kind of processor for all."
                )
    return None

"""What must be alike in all processes of a run, for their bits to be alike."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence


def fingerprint() -> dict[str, str]:
    """Versions and processor features that the results depend on."""
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
    """Say in a sentence where a process, given with what it is called, is unlike the first; None when all are alike."""
    first, of_first = processes[0]
    for process, found in processes:
        for name, value in of_first.items():
            if found.get(name) != value:
                return (
                    f"{process} has {name} {found.get(name)}, but {first} has {name} {value}: their results would differ; "
                    "give all of them the same packages and the same kind of processor."
                )
    return None

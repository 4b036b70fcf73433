"""What this process may use of the machine."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def usable_cores() -> int:
    """Cores this process may run on, which in a container can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def free_memory() -> int | None:
    """Bytes this process may still take: what the system has left, within the limits on the process and its container.

    None where the system does not tell.
    """
    left = [_left_on_the_machine(), _left_in_the_container(), *_left_to_the_process()]
    known = [max(n, 0) for n in left if n is not None]
    return min(known, default=None)


def _left_on_the_machine() -> int | None:
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    return None


def _left_in_the_container() -> int | None:
    group = Path("/sys/fs/cgroup")
    with suppress(OSError, ValueError):  # "max" where there is no limit
        statistics = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        used = int((group / "memory.current").read_text()) - int(statistics.get("file", 0))  # files can be let go of
        return int((group / "memory.max").read_text()) - used
    return None


def _left_to_the_process() -> list[int]:
    """Left of the limits on data and on address space (ulimit -d and -v)."""
    with suppress(ImportError, OSError):
        import resource

        pages = [int(n) * resource.getpagesize() for n in Path("/proc/self/statm").read_text().split()]
        used = {resource.RLIMIT_DATA: pages[5], resource.RLIMIT_AS: pages[0]}
        limits = {which: resource.getrlimit(which)[0] for which in used}
        return [limit - used[which] for which, limit in limits.items() if limit != resource.RLIM_INFINITY]
    return []

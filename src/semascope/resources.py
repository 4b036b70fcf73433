"""CPU cores and memory available to this process."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def usable_cores() -> int:
    """Return the number of cores this process may use; in a container possibly fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def free_memory() -> int | None:
    """Return the bytes this process can still allocate within the limits of system, container and process.

    None if the system does not report them.
    """
    left = [_free_on_machine(), _free_in_container(), *_free_in_process()]
    known = [max(n, 0) for n in left if n is not None]
    return min(known, default=None)


def _free_on_machine() -> int | None:
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    return None


def _free_in_container() -> int | None:
    group = Path("/sys/fs/cgroup")
    with suppress(OSError, ValueError):  # "max" where there is no limit
        statistics = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        used = int((group / "memory.current").read_text()) - int(statistics.get("file", 0))  # the page cache can be dropped
        return int((group / "memory.max").read_text()) - used
    return None


def _free_in_process() -> list[int]:
    """Return what remains of the limits on data and address space (ulimit -d and -v)."""
    with suppress(ImportError, OSError):
        import resource

        pages = [int(n) * resource.getpagesize() for n in Path("/proc/self/statm").read_text().split()]
        used = {resource.RLIMIT_DATA: pages[5], resource.RLIMIT_AS: pages[0]}
        limits = {kind: resource.getrlimit(kind)[0] for kind in used}
        return [limit - used[kind] for kind, limit in limits.items() if limit != resource.RLIM_INFINITY]
    return []

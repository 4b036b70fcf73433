"""Compilation of kernels, and the cache of compiled code.

Numba validates its cached code by a file's own contents, so editing a callee in another file would leave a stale caller.
Therefore the cache directory is named by a hash of all kernels together. It lies in the user's cache directory, or in a
temporary one if that is not writable. NUMBA_CACHE_DIR, when set, is respected.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numba
from numba import extending

intrinsic: Any = extending.intrinsic
"""Not type-checked: an intrinsic takes one argument less in the call than in its definition."""

FAST = {"reassoc", "contract", "arcp", "nsz"}
"""Sums may be reordered into vector instructions; NaN and infinity keep their meaning."""


def cache_directory() -> Path:
    """Return the directory of the compiled kernels for this version of the sources."""
    name = f"kernels-{digest_of(Path(__file__).parent)}"
    temporary = Path(tempfile.gettempdir()) / f"semascope-{_user_name()}"
    for home in (_user_cache(), temporary):
        directory = home / name
        try:
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            directory.mkdir(exist_ok=True)
        except OSError:
            continue
        if os.access(directory, os.W_OK) and (home != temporary or _is_own(home)):
            return directory
    return Path(tempfile.mkdtemp(prefix="semascope-kernels-"))


def digest_of(folder: Path) -> str:
    """Return a hash of all sources in a folder."""
    digest = hashlib.blake2b(digest_size=8)
    for source in sorted(folder.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def kernel(function):
    """Compile a function as a kernel: no Python objects, no GIL, cached.

    Division by zero yields infinity or NaN, as in NumPy: checking every division would prevent vectorization.
    """
    return _compiled(function, numba.njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy"))


def inlined(function):
    """Compile a function that is inlined into its callers: for a short row, a call would be expensive."""
    return _compiled(function, numba.njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", inline="always"))


def strict_kernel(function):
    """Compile a kernel whose floating-point operations keep their order."""
    return _compiled(function, numba.njit(nogil=True, cache=True, error_model="numpy"))


def _compiled(function, decorate):
    # Numba picks the cache directory while it decorates: set it only for that moment, so that other functions in the same
    # process keep theirs.
    config: Any = numba.config
    previous = config.CACHE_DIR
    config.CACHE_DIR = previous or str(_CACHE)
    try:
        return decorate(function)
    finally:
        config.CACHE_DIR = previous


def _user_cache() -> Path:
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        home = "~/Library/Caches"
    else:
        home = os.environ.get("XDG_CACHE_HOME")
    return Path(home or "~/.cache").expanduser() / "semascope"


def _is_own(folder: Path) -> bool:
    """Return whether a folder in a world-writable place belongs to this user: the code in it is executed."""
    return not hasattr(os, "getuid") or folder.lstat().st_uid == os.getuid()


def _user_name() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")


_CACHE = cache_directory()

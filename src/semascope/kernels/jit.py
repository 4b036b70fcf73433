"""How kernels are compiled, and where the compiled code is kept.

Numba decides by a file's own contents whether its cached code is still good, so an edited callee in another file would leave a
stale caller behind. Hence the cache lies under a hash of all kernels together, in the user's cache directory, or in a temporary
one where nothing is writable. NUMBA_CACHE_DIR, when set, is respected.
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
"""Unchecked: to its callers such a function takes one argument less than it is written with."""

FAST = {"reassoc", "contract", "arcp", "nsz"}
"""Sums may be reordered into vector instructions; NaN and infinity keep their meaning."""


def cache_directory() -> Path:
    """Where the compiled kernels of this version of the sources lie."""
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
    """A hash of all sources in a folder."""
    digest = hashlib.blake2b(digest_size=8)
    for source in sorted(folder.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def kernel(function):
    """Compile a function as a kernel: no Python objects, no GIL, cached.

    Division by zero gives infinity or NaN, as in NumPy: a check at every division would keep loops from being vectorized.
    """
    return _compiled(function, numba.njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy"))


def inlined(function):
    """Compile a part of kernels, to be written out where it is called: for a short row, a call would be dear."""
    return _compiled(function, numba.njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", inline="always"))


def strict_kernel(function):
    """Compile a kernel whose floating-point operations keep their order."""
    return _compiled(function, numba.njit(nogil=True, cache=True))


def _compiled(function, decorate):
    # Numba picks the cache directory while it decorates: set it for that moment only, so that other people's
    # functions in the same process keep theirs.
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
    """Tell whether this user made a folder where all may: code that lies in it is run."""
    return not hasattr(os, "getuid") or folder.lstat().st_uid == os.getuid()


def _user_name() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")


_CACHE = cache_directory()

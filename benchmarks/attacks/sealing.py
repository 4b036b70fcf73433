"""Directories as they lie on disk, without the package: read plainly, written over, and sealed again.

An attacker can compute checksums as well as we can. Whatever is mutated gets the right ones, of its blocks, of its size and of
the manifest, so that nothing but a look at the contents can refuse it.
"""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

MANIFEST = "manifest.json"
BLOCK = 1 << 20


def read_manifest(directory: Path) -> dict[str, Any]:
    """Return the manifest, as it is."""
    return json.loads((directory / MANIFEST).read_text(encoding="utf-8"))


def data_folder(directory: Path) -> Path:
    """Return the folder of the data files."""
    return directory / read_manifest(directory)["data"]


def arrays_of(directory: Path) -> dict[str, Any]:
    """Load all arrays by plain NumPy."""
    folder = data_folder(directory)
    return {path.stem: np.load(path, allow_pickle=False) for path in sorted(folder.glob("*.npy"))}


def parts_of(directory: Path) -> dict[str, Path]:
    """Return the directory itself as ".", and the parts of an index by their roles: "segments.0", "models.1"."""
    facts = read_manifest(directory).get("facts", {})
    parts = {".": directory}
    for role in ("segments", "models"):
        for number, name in enumerate(facts.get(role, ())):
            parts[f"{role}.{number}"] = directory / name
    return parts


def copied(source: Path, target: Path, *, linked: bool = True) -> Path:
    """Copy a directory; files are hard links where nobody writes into them."""
    shutil.copytree(source, target, copy_function=_linked if linked else shutil.copy2)
    return target


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # it lies on another disk
        shutil.copy2(source, target)


def put(path: Path, content: bytes) -> None:
    """Write a file anew: what hard links share stays as it was."""
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def record_of(content: bytes) -> dict[str, Any]:
    """Return the size of a file and the checksums of its blocks."""
    return {"size": len(content), "crc32": [zlib.crc32(content[i : i + BLOCK]) for i in range(0, len(content), BLOCK)]}


def replace_file(directory: Path, name: str, content: bytes) -> None:
    """Return a data file other contents, and seal the directory again."""
    put(data_folder(directory) / name, content)
    reseal(directory, lambda body: body["files"].__setitem__(name, record_of(content)))


def reseal(directory: Path, change: Callable[[dict[str, Any]], None] = lambda body: None) -> None:
    """Change the manifest, and give it the checksum that belongs to it."""
    body = read_manifest(directory)
    body.pop("checksum", None)
    change(body)
    write_manifest(directory, json.dumps(body, ensure_ascii=False))


def write_manifest(directory: Path, text: str) -> None:
    """Write a manifest that is given as text, with its checksum where it can be made of what a reader will find."""
    try:
        body = json.loads(text)
        sum_of_all = zlib.crc32(json.dumps(body, sort_keys=True, ensure_ascii=False).encode())
        text = f'{text[:-1]}, "checksum": {sum_of_all}}}'
    except (RecursionError, TypeError, ValueError):
        pass  # nobody comes as far as its checksum
    put(directory / MANIFEST, text.encode("utf-8", "surrogatepass"))

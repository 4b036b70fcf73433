"""Mutations of manifests: every key at every depth, names that lead elsewhere, and files that are none."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attacks.sealing import MANIFEST, data_folder, put, read_manifest, record_of, reseal, write_manifest

RAW = "@@raw@@"
"""Stands for text that is no JSON value of Python's."""

VALUES: dict[str, Any] = {
    "gone": None,
    "null": None,
    "true": True,
    "a text": "text",
    "empty text": "",
    "minus one": -1,
    "zero": 0,
    "half": 0.5,
    "10**18": 10**18,
    "10**400": 10**400,
    "NaN": float("nan"),
    "infinity": float("inf"),
    "empty list": [],
    "list": [1, "two", None],
    "empty object": {},
    "object": {"a": {"b": [1]}},
    "half a character": "\ud800",
}

TEXTS: dict[str, str] = {
    "100,000 brackets": "[" * 100_000 + "]" * 100_000,
    "100,000 objects": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "5,000 digits": "9" * 5_000,
    "1e999": "1e999",
}

DEEPEST_LIST = 2
"""Elements of a list that are attacked, each in its turn."""


def keys_of(value: Any, before: str = "") -> Iterator[str]:
    """Walk all keys of a manifest, as paths with slashes."""
    entries: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        entries = list(value.items())
    elif isinstance(value, list):
        entries = list(enumerate(value[:DEEPEST_LIST]))
    for key, inner in entries:
        path = f"{before}/{key}" if before else str(key)
        yield path
        yield from keys_of(inner, path)


def names_for(directory: Path) -> list[str]:
    """List the mutations of a manifest: each key with each value, and those of the whole."""
    body = read_manifest(directory)
    keys = [key for key in keys_of(body) if key != "checksum"]
    return [*(f"{key} = {value}" for key in keys for value in (*VALUES, *TEXTS)), *WHOLE]


def mutate(directory: Path, name: str, rng: np.random.Generator, outside: Path) -> None:
    """Mutate the manifest of a directory; what must not be read lies outside."""
    if name in WHOLE:
        WHOLE[name](directory, rng, outside)
        return
    key, _, value = name.rpartition(" = ")
    body = read_manifest(directory)
    body.pop("checksum")
    _set(body, key.split("/"), RAW if value in TEXTS else VALUES[value], gone=value == "gone")
    text = json.dumps(body)
    write_manifest(directory, text.replace(f'"{RAW}"', TEXTS[value]) if value in TEXTS else text)


def _set(body: Any, path: list[str], value: Any, *, gone: bool) -> None:
    for key in path[:-1]:
        body = body[int(key)] if isinstance(body, list) else body[key]
    last: Any = int(path[-1]) if isinstance(body, list) else path[-1]
    if gone:
        del body[last]
    else:
        body[last] = value


# --- the whole -------------------------------------------------------------------------------------------------------------


def _any_file(directory: Path, rng: np.random.Generator) -> Path:
    files = sorted(read_manifest(directory)["files"])
    return data_folder(directory) / (files[rng.integers(len(files))] if files else "none.npy")


def _replaced(make: Callable[[Path], None], size: int | None = None) -> Callable[..., None]:
    """Put something that is no file in the place of one."""

    def change(directory: Path, rng: np.random.Generator, outside: Path) -> None:
        path = _any_file(directory, rng)
        path.unlink(missing_ok=True)
        make(path)
        if size is not None:
            reseal(directory, lambda body: body["files"].__setitem__(path.name, {"size": size, "crc32": []}))

    return change


def _elsewhere(name: str) -> Callable[..., None]:
    """Move the data out of the directory, and let the manifest lead there."""

    def change(directory: Path, rng: np.random.Generator, outside: Path) -> None:
        shutil.copytree(data_folder(directory), outside, dirs_exist_ok=True)
        shutil.rmtree(data_folder(directory))
        target = name.format(outside=outside)
        reseal(directory, lambda body: body.__setitem__("data", target))

    return change


def _linked_outside(directory: Path, rng: np.random.Generator, outside: Path) -> None:
    """Make the data folder a symbolic link."""
    folder = data_folder(directory)
    shutil.copytree(folder, outside, dirs_exist_ok=True)
    shutil.rmtree(folder)
    folder.symlink_to(outside)


def _file_name(name: str) -> Callable[..., None]:
    """List a file of any name."""

    def change(directory: Path, rng: np.random.Generator, outside: Path) -> None:
        outside.mkdir(exist_ok=True)
        (outside / "file.npy").write_bytes(b"secret")
        reseal(directory, lambda body: body["files"].__setitem__(name.format(outside=outside), record_of(b"secret")))

    return change


def _setting(name: str, value: Any) -> Callable[..., None]:
    return lambda directory, rng, outside: reseal(directory, lambda body: body.__setitem__(name, value))


def _text(make: Callable[[str], str]) -> Callable[..., None]:
    def change(directory: Path, rng: np.random.Generator, outside: Path) -> None:
        put(directory / MANIFEST, make((directory / MANIFEST).read_text()).encode("utf-8", "surrogatepass"))

    return change


def _special(make: Callable[[Path], None]) -> Callable[..., None]:
    """Put something that is no file in the place of the manifest."""

    def change(directory: Path, rng: np.random.Generator, outside: Path) -> None:
        (directory / MANIFEST).unlink()
        make(directory / MANIFEST)

    return change


def _bit(directory: Path, rng: np.random.Generator, outside: Path) -> None:
    content = bytearray((directory / MANIFEST).read_bytes())
    content[rng.integers(len(content))] ^= 1 << rng.integers(8)
    put(directory / MANIFEST, bytes(content))


def _files(change: Callable[[dict[str, Any], str], None]) -> Callable[..., None]:
    """Change what is said of a file."""

    def mutate(directory: Path, rng: np.random.Generator, outside: Path) -> None:
        name = _any_file(directory, rng).name
        reseal(directory, lambda body: change(body["files"], name))

    return mutate


def _no_checksums(files: dict[str, Any], name: str) -> None:
    if name in files:
        files[name]["crc32"] = []


def _duplicate_keys(text: str) -> str:
    return text.rstrip().removesuffix("}") + ', "version": 1, "version": 1}'


WHOLE: dict[str, Callable[..., None]] = {
    "a file is a pipe": _replaced(os.mkfifo),
    "a file is a pipe of no bytes": _replaced(os.mkfifo, size=0),
    "a file is a folder": _replaced(lambda path: path.mkdir()),
    "a file is /dev/zero": _replaced(lambda path: path.symlink_to("/dev/zero"), size=0),
    "a file leads to itself": _replaced(lambda path: path.symlink_to(path)),
    "a file is gone": _replaced(lambda path: None),
    "manifest is a pipe": _special(os.mkfifo),
    "manifest is a folder": _special(lambda path: path.mkdir()),
    "manifest is /dev/zero": _special(lambda path: path.symlink_to("/dev/zero")),
    "manifest is gone": _special(lambda path: None),
    "manifest is empty": _text(lambda text: ""),
    "manifest is a number": _text(lambda text: "5"),
    "manifest is a list": _text(lambda text: "[]"),
    "manifest is 100,000 brackets": _text(lambda text: "[" * 100_000),
    "manifest is not UTF-8": _special(lambda path: path.write_bytes(b"\xff\xfe{}") and None),
    "manifest cut in half": _text(lambda text: text[: len(text) // 2]),
    "manifest with keys twice": _text(_duplicate_keys),
    "manifest with a mark before": _text(lambda text: "\ufeff" + text),
    "a bit of the manifest": _bit,
    "another bit of the manifest": _bit,
    "unknown keys": _setting("unknown", {"a": [1, 2, 3]}),
    "format of another kind": _setting("format", "semascope corpus"),
    "format of a model": _setting("format", "semascope model"),
    "format of another program": _setting("format", "other index"),
    "version of tomorrow": _setting("version", 99),
    "version of nobody": _setting("version", -3),
    "version is true": _setting("version", True),
    "data beside": _elsewhere("../outside"),
    "data at an absolute path": _elsewhere("{outside}"),
    "data is a link": _linked_outside,
    "data is here": _setting("data", "."),
    "data is above": _setting("data", ".."),
    "file name leads out": _file_name("../../outside/file.npy"),
    "file name is absolute": _file_name("{outside}/file.npy"),
    "file name has a null": _file_name("a\0b.npy"),
    "file not listed": _files(lambda files, name: files.pop(name, None)),
    "file without checksums": _files(_no_checksums),
    "file with too many checksums": _files(lambda files, name: files.get(name, {"crc32": []})["crc32"].extend([0] * 5)),
    "file of other facts": _files(lambda files, name: files.__setitem__(name, {"size": 1, "crc32": [1], "owner": "me"})),
}

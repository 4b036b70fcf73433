"""The manifest of a directory: its kind, its facts, and the size and checksums of its files."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from isal.isal_zlib import crc32

from semascope.errors import FormatError
from semascope.storage.facts import ListOf, Plain, Record, Text, Whole

MANIFEST = "manifest.json"
BLOCK = 1 << 20
"""Bytes per checksum. A reader checks only the blocks it accesses, so opening a large corpus stays cheap.

Checksums are those of zlib, computed many times faster by ISA-L.
"""

_FILE = Record({"size": Whole(), "crc32": ListOf(Plain())})
_BODY = Record({"written_by": Text(), "data": Text(), "files": Record(others=_FILE), "facts": Record(others=Plain())})

_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class FileRecord:
    """Size of a data file, and the CRC-32 of each of its blocks."""

    size: int
    crc32: list[int]


@dataclass(frozen=True)
class Manifest:
    """Contents of ``manifest.json``."""

    kind: str
    version: int
    written_by: str
    data: str
    files: dict[str, FileRecord]
    facts: dict[str, Any]

    def to_json(self) -> str:
        body = {"format": f"semascope {self.kind}", **{k: v for k, v in asdict(self).items() if k != "kind"}}
        return json.dumps({**body, "checksum": _checksum(body)}, indent=1, ensure_ascii=False) + "\n"


def read_manifest(directory: Path, kind: str, version: int) -> Manifest:
    """Read and validate the manifest of a directory of `kind`, in `version` or an older one."""
    wanted = f"expected a semascope {kind} (version {version})"
    body = _read_json(directory, wanted)
    found_kind = body["format"].removeprefix("semascope ")
    found_version: Any = body.get("version")
    if found_kind != kind:
        msg = f"{directory}: {wanted}, found a semascope {found_kind} (version {found_version})."
        raise FormatError(msg)
    if problem := Whole(low=1).problem(found_version, "version"):
        msg = f"{directory / MANIFEST}: {problem}."
        raise FormatError(msg)
    if found_version > version:
        msg = f"{directory}: {wanted}, found version {found_version}: a newer semascope wrote it; upgrade to read it."
        raise FormatError(msg)
    try:
        is_own = body.pop("checksum", None) == _checksum(body)
    except RecursionError:  # readable, but nested too deeply to be serialized again
        is_own = False
    if not is_own:
        msg = f"{directory / MANIFEST}: was altered after it was written: its checksum does not match."
        raise FormatError(msg)
    _check_body(body, directory)
    return Manifest(
        kind=kind,
        version=found_version,
        written_by=body["written_by"],
        data=safe_filename(body["data"], directory),
        files={
            safe_filename(name, directory): FileRecord(record["size"], record["crc32"])
            for name, record in body["files"].items()
        },
        facts=body["facts"],
    )


def _check_body(body: dict[str, Any], directory: Path) -> None:
    """Check that the manifest is complete, with checksums for every byte of every file."""
    problem = _BODY.problem(body, "the manifest")
    for name, record in {} if problem else body["files"].items():
        n_blocks = -(-record["size"] // BLOCK)
        if len(record["crc32"]) != n_blocks or not all(type(checksum) is int for checksum in record["crc32"]):
            problem = f"files.{name}: a file of {record['size']:,} bytes has {n_blocks:,} checksums, which are whole numbers"
    if problem:
        msg = f"{directory / MANIFEST}: {problem}."
        raise FormatError(msg)


def kind_of(directory: Path) -> str | None:
    """Return the kind that a directory claims to be; None if it is not a semascope directory."""
    try:
        kind: str = _read_json(directory, "")["format"]
        return kind.removeprefix("semascope ")
    except FormatError:
        return None


def _read_json(directory: Path, wanted: str) -> dict[str, Any]:
    path = directory / MANIFEST
    if not path.is_file():  # reading a pipe would block
        msg = f"{directory}: {wanted}, but it has no {MANIFEST}: it is something else, or its writing was interrupted."
        if not directory.exists():
            msg = f"{directory}: {wanted}, but there is no such directory."
        elif not directory.is_dir():
            msg = f"{directory}: {wanted}, which is a directory, but this is a file."
        raise FormatError(msg)
    try:
        body = json.loads(path.read_bytes().decode())
    except (ValueError, RecursionError) as error:  # not UTF-8, not JSON, too many digits; nested too deeply
        msg = f"{path}: {wanted}, but the manifest is not JSON ({error})."
        raise FormatError(msg) from None
    stated = body.get("format") if isinstance(body, dict) else None
    if not isinstance(stated, str) or not stated.startswith("semascope "):
        msg = f"{path}: {wanted}, but another program's manifest is here."
        raise FormatError(msg)
    return dict(body)


def _checksum(body: dict[str, Any]) -> int:
    return crc32(json.dumps(body, sort_keys=True, ensure_ascii=False).encode(errors="surrogatepass"))


def safe_filename(name: str, directory: Path) -> str:
    """Validate a file name in a manifest; names that lead out of the directory are rejected."""
    if not _SAFE_NAME.fullmatch(name):
        msg = f"{directory / MANIFEST}: expected plain file names, found {name!r}."
        raise FormatError(msg)
    return name


def block_checksums(path: Path) -> FileRecord:
    """Return the size and block checksums of a file."""
    checksums = []
    size = 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            checksums.append(crc32(block))
            size += len(block)
    return FileRecord(size, checksums)

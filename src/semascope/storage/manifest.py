"""The manifest of a directory: what it is, its facts, and the size and checksums of its files."""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from semascope.errors import FormatError

MANIFEST = "manifest.json"
BLOCK = 1 << 20
"""Bytes under one checksum. A reader checks the blocks it touches, so opening a large corpus stays cheap."""

_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class FileRecord:
    """Size of a data file, and the CRC-32 of each of its blocks."""

    size: int
    crc32: list[int]


@dataclass(frozen=True)
class Manifest:
    """What stands in ``manifest.json``."""

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
    """Read and check the manifest of a directory that should hold `kind` in `version`."""
    wanted = f"expected a semascope {kind} (version {version})"
    body = _read_json(directory, wanted)
    found_kind = str(body.get("format", "")).removeprefix("semascope ")
    found_version = body.get("version")
    if found_kind != kind:
        msg = f"{directory}: {wanted}, found a semascope {found_kind} (version {found_version})."
        raise FormatError(msg)
    if not isinstance(found_version, int) or found_version > version:
        msg = f"{directory}: {wanted}, found version {found_version}: a newer semascope wrote it; upgrade to read it."
        raise FormatError(msg)
    stated = body.pop("checksum", None)
    if stated != _checksum(body):
        msg = f"{directory / MANIFEST}: was altered after it was written (checksum {stated}, expected {_checksum(body)})."
        raise FormatError(msg)
    return Manifest(
        kind=kind,
        version=found_version,
        written_by=body["written_by"],
        data=plain_name(body["data"], directory),
        files={plain_name(name, directory): FileRecord(**record) for name, record in body["files"].items()},
        facts=body["facts"],
    )


def kind_of(directory: Path) -> str | None:
    """Say what a directory claims to hold; None when it is not ours."""
    try:
        return str(_read_json(directory, "")["format"]).removeprefix("semascope ")
    except FormatError:
        return None


def _read_json(directory: Path, wanted: str) -> dict[str, Any]:
    path = directory / MANIFEST
    if not directory.exists():
        msg = f"{directory}: {wanted}, but there is no such directory."
        raise FormatError(msg)
    if not directory.is_dir():
        msg = f"{directory}: {wanted}, which is a directory, but this is a file."
        raise FormatError(msg)
    if not path.is_file():
        msg = f"{directory}: {wanted}, but it has no {MANIFEST}: it is something else, or its writing was interrupted."
        raise FormatError(msg)
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        msg = f"{path}: {wanted}, but the manifest is not JSON ({error})."
        raise FormatError(msg) from None
    if not isinstance(body, dict) or not str(body.get("format", "")).startswith("semascope "):
        msg = f"{path}: {wanted}, but another program's manifest is here."
        raise FormatError(msg)
    return body


def _checksum(body: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(body, sort_keys=True, ensure_ascii=False).encode())


def plain_name(name: str, directory: Path) -> str:
    """Give a name that a manifest has; one that would lead out of the directory is refused."""
    if not _SAFE_NAME.fullmatch(name):
        msg = f"{directory / MANIFEST}: expected plain file names, found {name!r}."
        raise FormatError(msg)
    return name


def block_checksums(path: Path) -> FileRecord:
    """Size and block checksums of a file."""
    checksums = []
    size = 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            checksums.append(zlib.crc32(block))
            size += len(block)
    return FileRecord(size, checksums)

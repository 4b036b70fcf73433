"""One process of `same_bits`: do what the cases of a group say with the semascope on the path, and print digests as JSON.

`python -m benchmarks.same_bits_worker GROUP FOLDER SRC`; SRC is where semascope must come from. The folder is for files.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

import semascope as ss
from benchmarks import same_bits_cases as cases
from benchmarks.same_bits_cases import Cases, Material

MPI, SPARK = "MPI", "Spark"
MASTER = "local-cluster[2,1,1024]"
"""Two real executor processes on this machine."""
CORPUS = "corpus of engines"
FAILED = "failed: "

GROUPS: dict[str, Callable[[Material], Cases]] = {
    "LSA and PLSA": partial(cases.models, ("LSA", "PLSA")),
    "LDA": partial(cases.models, ("LDA",)),
    "PolylingualLDA": partial(cases.models, ("PolylingualLDA",)),
    "other ways": cases.ways,
    "labels": cases.labels,
    "corpora": cases.corpora,
    "indexes": cases.indexes,
    "real documents": cases.real,
    MPI: lambda material: cases.on_engine(ss.MPIEngine(1), material, material.folder / CORPUS),
    SPARK: lambda material: cases.on_engine(ss.SparkEngine(MASTER), material, material.folder / CORPUS),
}


def digest(value: Any) -> str:
    """Hash a value: of arrays all bytes, type and shape; of numbers all bits."""
    content = hashlib.blake2b(digest_size=12)
    for part in _parts(value):
        content.update(len(part).to_bytes(8, "little") + part)
    return content.hexdigest()


def _parts(value: Any) -> list[bytes]:
    """Take a value to pieces; the name of its kind comes first."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return [f"array {value.dtype.str} {value.shape}".encode(), np.ascontiguousarray(value).tobytes()]
    if sp.issparse(value):
        rows = value.tocsr()
        return [b"sparse", *(part for one in (rows.indptr, rows.indices, rows.data) for part in _parts(one))]
    if isinstance(value, float | np.floating):
        return [f"{type(value).__name__} {float(value).hex()}".encode()]
    if isinstance(value, bytes):
        return [b"bytes", value]
    if isinstance(value, pl.DataFrame):
        return [b"frame", *_parts([(name, str(value[name].dtype), value[name].to_list()) for name in value.columns])]
    if isinstance(value, Mapping):
        return [b"mapping", *(part for pair in value.items() for part in _parts(list(pair)))]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _parts([getattr(value, one.name) for one in dataclasses.fields(value)])
    if isinstance(value, list | tuple | np.ndarray | pl.Series):
        listed = value.to_list() if isinstance(value, pl.Series) else list(value)
        return [f"list {len(listed)}".encode(), *(part for one in listed for part in _parts(one))]
    if value is None or isinstance(value, str | int | np.integer | bool | np.bool_):
        return [f"{type(value).__name__} {value}".encode()]
    msg = f"there is no digest of a {type(value).__name__}"
    raise TypeError(msg)


def digests(found: Cases) -> dict[str, dict[str, str]]:
    """Run cases, and hash what each comes to by name; of one that fails, the error."""
    results = {}
    for name, case in found.items():
        try:
            results[name] = {what: digest(value) for what, value in case().items()}
        except Exception as problem:  # the other tree may do the same, or not
            results[name] = {"error": f"{FAILED}{type(problem).__name__}: {problem}"}
    return results


def main() -> None:
    group, folder, source = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    if not Path(ss.__file__).is_relative_to(source.resolve()):
        sys.exit(f"semascope was to come from {source}, but came from {ss.__file__}")
    warnings.simplefilter("ignore")
    material = Material(folder)
    if group == "prepare":
        material.corpus.save(folder / CORPUS)
        return
    results = digests(GROUPS[group](material))
    if group != MPI or ss.MPIEngine().is_root:
        sys.stdout.write(json.dumps(results) + "\n")


if __name__ == "__main__":
    main()

"""Directories on disk: written atomically, read by memory-map, and validated.

A corpus, a model, an index and a checkpoint are directories with one structure::

    NAME/
      manifest.json        its kind, its facts, and every data file with its size and checksums
      data-1f0c…/          the data files: arrays as .npy, tables as Arrow IPC
      part-83ab…/          of an index: parts, which are such directories themselves

The manifest names the data folder. A new version writes a new data folder beside the old one, syncs it, and then atomically
replaces the manifest: a crash leaves the old version or the new one.

Reading never runs code, and trusts nothing: each format has a `Layout` that declares the contents of its facts, arrays and
tables, which are validated before use. What is not declared cannot be read or written.
"""

from semascope.storage.appendable import GrowingArray, GrowingTable
from semascope.storage.arrays import open_array
from semascope.storage.layout import Layout
from semascope.storage.manifest import MANIFEST, safe_filename
from semascope.storage.reading import Directory, is_directory_of, open_directory
from semascope.storage.tables import open_table
from semascope.storage.writing import Draft, check_target, writing

__all__ = [
    "MANIFEST",
    "Directory",
    "Draft",
    "GrowingArray",
    "GrowingTable",
    "Layout",
    "check_target",
    "is_directory_of",
    "open_array",
    "open_directory",
    "open_table",
    "safe_filename",
    "writing",
]

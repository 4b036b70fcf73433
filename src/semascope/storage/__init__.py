"""Directories on disk: written whole or not at all, read by memory-map, refused when they are not what they should be.

A corpus, a model, an index and a checkpoint are directories of one make::

    NAME/
      manifest.json        what this is, its facts, and every data file with its size and checksums
      data-1f0c…/          the data files: arrays as .npy, tables as Arrow IPC
      part-83ab…/          of an index: parts, which are directories of this make themselves

The manifest names the data folder. A new version writes a new data folder beside the old one, syncs it, and then replaces
the manifest, which is one atomic step: a crash leaves the old version or the new one.

Reading never runs code, and trusts nothing: each format has a `Layout` that declares what its facts, arrays and tables may
hold, which is validated before anything is made of them. What is not declared cannot be read or written.
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

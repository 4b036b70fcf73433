"""A small directory of arrays, in two versions."""

import numpy as np

from semascope.storage import open_directory, writing

OLD = {"x": np.arange(1000), "y": np.ones((3, 2), dtype=np.float32)}
NEW = {"x": np.arange(500) * 2, "y": np.zeros((4, 2), dtype=np.float32)}


def write(path, arrays):
    with writing(path, "thing", 1) as draft:
        for name, array in arrays.items():
            draft.array(name, array)
        draft.facts["names"] = list(arrays)


def read(path):
    directory = open_directory(path, "thing", 1)
    return {name: directory.array(name) for name in directory.facts["names"]}


def holds(path, arrays):
    found = read(path)
    return found.keys() == arrays.keys() and all(np.array_equal(found[name], arrays[name]) for name in arrays)

"""A small directory of arrays, in two versions."""

import numpy as np

from semascope.storage import Layout, open_directory, writing
from semascope.storage.layout import ANY, numbers

THING = Layout("thing", 1, arrays={"x": numbers(ANY, dtypes=("int64", "float64")), "y": numbers(ANY, 2)})

OLD = {"x": np.arange(1000), "y": np.ones((3, 2), dtype=np.float32)}
NEW = {"x": np.arange(500) * 2, "y": np.zeros((4, 2), dtype=np.float32)}


def write(path, arrays):
    with writing(path, THING) as draft:
        for name, array in arrays.items():
            draft.array(name, array)
        draft.facts["names"] = list(arrays)


def read(path):
    directory = open_directory(path, THING)
    return {name: directory.array(name) for name in directory.facts["names"]}


def holds(path, arrays):
    found = read(path)
    return found.keys() == arrays.keys() and all(np.array_equal(found[name], arrays[name]) for name in arrays)

"""Windows of text in plain Python: written to be read."""

import numpy as np


def count_windows(documents, tops, window):
    """Count windows over documents that are lists of words.

    Returns the number of windows, and for each topic in how many of them two of its top words are together.
    """
    n_windows, together = 0, np.zeros((len(tops), max(map(len, tops)), max(map(len, tops))), dtype=int)
    for document in documents:
        for start in range(max(len(document) - window, 0) + 1 if document else 0):
            seen = set(document[start : start + window])
            n_windows += 1
            for topic, top in enumerate(tops):
                for i, word in enumerate(top):
                    for j, other in enumerate(top):
                        together[topic, i, j] += word in seen and other in seen
    return n_windows, together

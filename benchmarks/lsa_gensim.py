"""Fits gensim's LsiModel in an environment of its own: python lsa_gensim.py FOLDER RANK; the folder has matrix.npz.

Fits once for every line that comes in; the seconds of each go out as a line.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from gensim.matutils import Sparse2Corpus
from gensim.models import LsiModel

home, rank = Path(sys.argv[1]), int(sys.argv[2])
matrix = sp.load_npz(home / "matrix.npz")
corpus = Sparse2Corpus(matrix, documents_columns=False)
names = {number: str(number) for number in range(matrix.shape[1])}
for _ in sys.stdin:
    began = time.perf_counter()
    model = LsiModel(corpus, id2word=names, num_topics=rank, dtype=matrix.dtype.type, random_seed=0)
    seconds = time.perf_counter() - began
    np.save(home / "vectors.npy", model.projection.u)
    print(seconds, flush=True)

"""Small matrices, worked on while other threads go on: libraries for matrices hold the GIL where little comes out."""

from __future__ import annotations

import numpy as np

from semascope.kernels.compile import kernel


@kernel
def eigenvalues(matrix):
    """Eigenvalues of a symmetric matrix, ascending.

    Same numbers as ``np.linalg.eigvalsh``.

    matrix  float[n, n]  in
    """
    return np.linalg.eigvalsh(matrix)

"""Convergence criteria of inference for documents, one for each purpose.

The contribution of a document to its own labels, which `semascope.kernels.label_inference` subtracts from their scores, is an
intermediate result: the kernel estimates it in ten passes.
"""

from __future__ import annotations

from typing import NamedTuple


class Convergence(NamedTuple):
    """Stopping rule of the passes over a document.

    max_passes  maximum number of passes
    tolerance   largest change of any topic or label proportion in a converged pass; in variational inference, the largest
                fraction of tokens that it reassigns
    """

    max_passes: int
    tolerance: float


NEVER = -1.0
"""Tolerance that is never met, so that all passes are run."""

TOPICS = Convergence(200, 1e-4)
"""Topics of new documents, by EM or variational inference: `transform`, `elbo` and views of texts."""

LABELS = Convergence(200, 1e-4)
"""Labels of documents: `transform`, `predict`, `attribute`, `perplexity` and views of texts."""

COMPLETION = Convergence(30, NEVER)
"""Topics of half a document, for document completion: a protocol for comparing packages, so the number of passes is fixed."""

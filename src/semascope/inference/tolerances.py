"""When inference about documents has converged: one rule for each purpose.

What a document has added to its own labels, which `semascope.kernels.label_inference` takes out of their scores, is no result that
anyone sees: ten passes in the kernel will do.
"""

from __future__ import annotations

from typing import NamedTuple


class Convergence(NamedTuple):
    """When the passes over a document end.

    max_passes  at the latest after so many
    tolerance   or when a pass changes no share of the document by more; in variational inference, when it reassigns no larger
                fraction of the document's tokens
    """

    max_passes: int
    tolerance: float


NEVER = -1.0
"""A tolerance that no pass meets, so that all passes are made."""

TOPICS = Convergence(200, 1e-4)
"""Topics of new documents, by EM or variational inference: `transform`, `elbo`, and whatever shows a text."""

LABELS = Convergence(200, 1e-4)
"""Labels of documents, whoever asks: `transform`, `predict`, `attribute`, `perplexity`, and whatever shows a text."""

COMPLETION = Convergence(30, NEVER)
"""Topics of half a document, of which the other half is predicted: a protocol by which models of different packages are
compared, so that the number of passes is the same for all."""

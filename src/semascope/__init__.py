"""Topic models, semantic search and a topic explorer for text collections."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from semascope import legacy

__version__ = "0.1.0"

if TYPE_CHECKING:
    from semascope import errors as errors
    from semascope.corpus.corpus import Corpus as Corpus
    from semascope.corpus.lexicon import Lexicon as Lexicon
    from semascope.corpus.readers.counts import CountedDocuments as CountedDocuments
    from semascope.corpus.readers.sources import Documents as Documents
    from semascope.corpus.readers.sources import read as read
    from semascope.corpus.readers.sources import read_counts as read_counts
    from semascope.corpus.readers.trec import read_qrels as read_qrels
    from semascope.corpus.text.analyzer import Analyzer as Analyzer
    from semascope.engines.mpi import MPIEngine as MPIEngine
    from semascope.engines.spark.engine import SparkEngine as SparkEngine
    from semascope.engines.threads import ThreadEngine as ThreadEngine
    from semascope.models.ctm import CorrelatedTopicModel as CorrelatedTopicModel
    from semascope.models.labeled_lda import LabeledLDA as LabeledLDA
    from semascope.models.lda import LDA as LDA
    from semascope.models.loading import load as load
    from semascope.models.lsa import LSA as LSA
    from semascope.models.online_labeled_lda import OnlineLabeledLDA as OnlineLabeledLDA
    from semascope.models.plsa import PLSA as PLSA
    from semascope.models.polylingual_lda import PolylingualLDA as PolylingualLDA
    from semascope.models.priors.informed import InformedPrior as InformedPrior
    from semascope.retrieval.index import Index as Index
    from semascope.training.checkpoint import Checkpoints as Checkpoints

_HOME = {
    "Analyzer": "semascope.corpus.text.analyzer",
    "Checkpoints": "semascope.training.checkpoint",
    "Corpus": "semascope.corpus.corpus",
    "CountedDocuments": "semascope.corpus.readers.counts",
    "Documents": "semascope.corpus.readers.sources",
    "Index": "semascope.retrieval.index",
    "InformedPrior": "semascope.models.priors.informed",
    "Lexicon": "semascope.corpus.lexicon",
    "MPIEngine": "semascope.engines.mpi",
    "SparkEngine": "semascope.engines.spark.engine",
    "ThreadEngine": "semascope.engines.threads",
    "load": "semascope.models.loading",
    "read": "semascope.corpus.readers.sources",
    "read_counts": "semascope.corpus.readers.sources",
    "read_qrels": "semascope.corpus.readers.trec",
} | {entry.name: entry.module for entry in import_module("semascope.models.registry").ENTRIES}

__all__ = sorted([*_HOME, "__version__", "errors"])


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name == "errors":
        return import_module("semascope.errors")
    msg = f"module 'semascope' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return __all__


legacy.install()

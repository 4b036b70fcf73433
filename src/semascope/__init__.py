"""semascope: an instrument for seeing meaning in text."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from semascope import errors as errors
    from semascope.corpus.analyze import Analyzer as Analyzer
    from semascope.corpus.corpus import Corpus as Corpus
    from semascope.corpus.lexicon import Lexicon as Lexicon
    from semascope.corpus.read import Documents as Documents
    from semascope.corpus.read import read as read
    from semascope.corpus.read import read_counts as read_counts
    from semascope.corpus.readers.counts import CountedDocuments as CountedDocuments
    from semascope.corpus.readers.trec import read_qrels as read_qrels
    from semascope.engines.mpi import MPIEngine as MPIEngine
    from semascope.engines.spark import SparkEngine as SparkEngine
    from semascope.engines.threads import ThreadEngine as ThreadEngine
    from semascope.models.ctm import CorrelatedTopicModel as CorrelatedTopicModel
    from semascope.models.informed import InformedPrior as InformedPrior
    from semascope.models.labeled import LabeledLDA as LabeledLDA
    from semascope.models.lda import LDA as LDA
    from semascope.models.load import load as load
    from semascope.models.lsa import LSA as LSA
    from semascope.models.online_labeled import OnlineLabeledLDA as OnlineLabeledLDA
    from semascope.models.plsa import PLSA as PLSA
    from semascope.models.polylingual import PolylingualLDA as PolylingualLDA
    from semascope.retrieval.index import Index as Index
    from semascope.training.checkpoint import Checkpoints as Checkpoints

_HOME = {
    "Analyzer": "semascope.corpus.analyze",
    "Checkpoints": "semascope.training.checkpoint",
    "Corpus": "semascope.corpus.corpus",
    "CountedDocuments": "semascope.corpus.readers.counts",
    "Documents": "semascope.corpus.read",
    "Index": "semascope.retrieval.index",
    "InformedPrior": "semascope.models.informed",
    "Lexicon": "semascope.corpus.lexicon",
    "MPIEngine": "semascope.engines.mpi",
    "SparkEngine": "semascope.engines.spark",
    "ThreadEngine": "semascope.engines.threads",
    "load": "semascope.models.load",
    "read": "semascope.corpus.read",
    "read_counts": "semascope.corpus.read",
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

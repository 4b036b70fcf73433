"""Aliases of the module paths of 0.1, so that its pickles (such as joblib dumps) still load."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MODULES = {
    "semascope.corpus.analyze": "semascope.corpus.text.analyzer",
    "semascope.corpus.growing_words": "semascope.corpus.build.growing_vocabulary",
    "semascope.corpus.matrix": "semascope.corpus.matrices",
    "semascope.corpus.number": "semascope.corpus.build.vocabulary",
    "semascope.corpus.read": "semascope.corpus.readers.sources",
    "semascope.corpus.rows": "semascope.corpus.csr",
    "semascope.corpus.wordtable": "semascope.corpus.build.word_table",
    "semascope.engines.spark_worker": "semascope.engines.spark.worker",
    "semascope.explorer.here": "semascope.engines.threads",
    "semascope.judging": "semascope.model_selection",
    "semascope.kernels.particles": "semascope.kernels.particle_filter",
    "semascope.kernels.remembering": "semascope.kernels.rejuvenation",
    "semascope.machine": "semascope.resources",
    "semascope.models.folding": "semascope.inference.topics",
    "semascope.models.informed": "semascope.models.priors.informed",
    "semascope.models.label_scores": "semascope.models.labels.prediction",
    "semascope.models.labeled": "semascope.models.labeled_lda",
    "semascope.models.load": "semascope.models.loading",
    "semascope.models.online_labeled": "semascope.models.online_labeled_lda",
    "semascope.models.polylingual": "semascope.models.polylingual_lda",
    "semascope.models.streaming": "semascope.models.online_topic_model",
    "semascope.models.themes": "semascope.models.display.topic_view",
    "semascope.models.topicmodel": "semascope.models.topic_model",
    "semascope.training.labelwords": "semascope.training.particle_state",
    "semascope.training.particles": "semascope.training.particle_state",
    "semascope.training.priors": "semascope.training.hyperpriors",
}
"""Current path of each module of 0.1."""
NAMES = {
    "semascope.corpus.number.Queue": "WorkQueue",
    "semascope.corpus.rows.Rows": "CSR",
    "semascope.engines.spark_worker.Outlook": "WorkerContext",
    "semascope.explorer.here.Here": "InlineEngine",
    "semascope.kernels.remembering.Memory": "ReplayBuffer",
    "semascope.models.streaming.StreamingModel": "OnlineTopicModel",
    "semascope.models.themes.Themes": "TopicView",
    "semascope.training.labelwords.LabelWords": "LabelCounts",
}
"""Current name of each renamed class of 0.1."""


class _Alias(ModuleType):
    """Module of 0.1 whose names resolve to their current place."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module(MODULES[self.__name__]), NAMES.get(f"{self.__name__}.{name}", name))


class LegacyFinder:
    """Meta path finder for the modules of 0.1, used only when no module of that name exists."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec of an alias, or None for any other name."""
        return ModuleSpec(name, self) if name in MODULES else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return an alias module."""
        return _Alias(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: names are resolved on access."""


def install() -> None:
    """Register the finder once."""
    if not any(isinstance(finder, LegacyFinder) for finder in sys.meta_path):
        sys.meta_path.append(LegacyFinder())

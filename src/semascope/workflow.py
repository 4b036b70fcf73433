"""Workflow of the command line: from source to corpus to model to index, each a directory."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semascope import resources
from semascope.corpus.corpus import Corpus
from semascope.corpus.readers.counts import CountedDocuments
from semascope.corpus.readers.sources import Documents
from semascope.corpus.text.analyzer import Analyzers
from semascope.engines.base import Engine
from semascope.errors import FormatError, InputError, InterruptedFitWarning
from semascope.model_selection import Split, own_corpus
from semascope.models.editing import Merge, Topic
from semascope.models.loading import load, load_topics
from semascope.models.registry import DIMENSIONS, entries
from semascope.models.topic_model import TopicModel
from semascope.retrieval.index import Index
from semascope.storage import check_target, is_directory_of
from semascope.training.checkpoint import Checkpoints


def build(
    documents: Documents | CountedDocuments,
    target: Path,
    analyzer: Analyzers,
    *,
    overwrite: bool = False,
    watch: Callable[[int], None] | None = None,
) -> Corpus:
    """Read documents, count their words and write the corpus, block by block.

    Parameters
    ----------
    watch : callable, optional
        Callback invoked with the number of documents read so far.
    """
    if target.resolve().is_relative_to(Path(documents.source).resolve()):
        msg = f"{target}: lies inside the source; write the corpus elsewhere."
        raise InputError(msg)
    _check_is_free(target, "corpus", overwrite=overwrite)
    return Corpus.build(documents, analyzer, path=target, watch=watch)


def should_spill(corpus: Corpus, n_topics: int) -> bool:
    """Return whether the per-document arrays would take more than half of the free memory.

    These are the topics of each document in float32, before and after an iteration and once more when they are gathered,
    and the entries by word.
    """
    left = resources.free_memory()
    n_topics = min(n_topics, corpus.n_words)  # more are rejected
    return left is not None and 12 * corpus.n_documents * n_topics + 8 * len(corpus.rows.words) > left / 2


@dataclass(frozen=True)
class FitResult:
    """Fitted and saved model; `unfinished` is the checkpoint of an interrupted run, to resume from."""

    model: TopicModel
    unfinished: Path | None


def fit(
    documents: Corpus | Split,
    target: Path,
    model_name: str,
    settings: dict[str, Any],
    engine: Engine,
    *,
    overwrite: bool = False,
    resume: bool = False,
    checkpoint_seconds: float = 60.0,
) -> FitResult:
    """Fit a model and save it, with checkpoints beside it until it is finished.

    Parameters
    ----------
    documents : Corpus or Split
        Training documents. Of a split corpus, one part is fitted and the other evaluates the fit while it runs.
    """
    checkpoints = Checkpoints(checkpoint_of(target), seconds=checkpoint_seconds, resume=resume)
    engine.run_on_root(lambda: _prepare_target(target, checkpoints, overwrite=overwrite))
    model: Any = entries()[model_name].load_class()(**settings, engine=engine, verbose=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedFitWarning)  # `unfinished` reports it
        if isinstance(documents, Split):
            model.fit(documents.train, checkpoints=checkpoints, heldout=documents.heldout)
            model.corpus_["split_from"] = documents.facts()
        else:
            model.fit(documents, checkpoints=checkpoints)
    model.save(target)
    if model.stopped_by_ == "interrupted":
        return FitResult(model, checkpoints.directory)
    engine.run_on_root(checkpoints.discard)
    return FitResult(model, None)


def _prepare_target(target: Path, checkpoints: Checkpoints, *, overwrite: bool) -> None:
    """Check that the target is free for a new run, or has a run to resume."""
    check_target(checkpoints.directory, "checkpoint")
    if checkpoints.resume and not checkpoints.exists():
        msg = f"{target}: no unfinished run to resume; omit --resume to start one."
        raise InputError(msg)
    if checkpoints.exists() and not (checkpoints.resume or overwrite):
        msg = f"{target}: holds an unfinished run; continue with --resume, or start over with --overwrite."
        raise InputError(msg)
    _check_is_free(target, "model", overwrite=overwrite or checkpoints.resume)
    target.parent.mkdir(parents=True, exist_ok=True)


def checkpoint_of(target: Path) -> Path:
    """Return the path of the checkpoint of a model being fitted."""
    whole = target.resolve()
    return whole.with_name(whole.name + ".checkpoint")


def edit(
    source: Path,
    target: Path,
    rename: Mapping[Topic, str | None],
    merge: Sequence[Merge],
    remove: Sequence[Topic],
    *,
    overwrite: bool = False,
) -> TopicModel:
    """Edit the topics of a model and save it. Editing in place needs `overwrite`, unless topics are only renamed."""
    in_place = source.resolve() == target.resolve()
    if in_place and (merge or remove) and not overwrite:
        msg = f"{source}: merging and removing lose topics; write to another path, or edit this model with --overwrite."
        raise InputError(msg)
    model: TopicModel = load_topics(source)
    changed = model.edit_topics(rename=rename, merge=merge, remove=remove)
    _check_is_free(target, "model", overwrite=overwrite or in_place)
    changed.save(target)
    return changed


def index(
    source: Path, target: Path, corpus: Path | None = None, n_dimensions: int | None = None, *, overwrite: bool = False
) -> Index:
    """Index the documents of a corpus, or those a model was fitted to, and save the index.

    Parameters
    ----------
    source : path
        Corpus, or model to search with.
    corpus : path, optional
        Documents to index instead of those the model was fitted to.
    """
    _check_is_free(target, "index", overwrite=overwrite)
    model, problem = open_any(source), None
    if isinstance(model, Index):
        problem = "is already an index; expected a semascope model or corpus"
    elif isinstance(model, Corpus) and corpus is not None:
        problem = "is a corpus, so --corpus cannot name another; expected a semascope model"
    elif not isinstance(model, Corpus) and model.kind == DIMENSIONS and n_dimensions is not None:
        problem = f"is {type(model).__name__} and brings its own dimensions; omit --dimensions"
    if problem:
        msg = f"{source}: {problem}."
        raise InputError(msg)
    if isinstance(model, Corpus):
        return Index.build(model, path=target, n_dimensions=n_dimensions)
    documents = own_corpus(model) if corpus is None else Corpus.open(corpus)
    return Index.build(documents, model, path=target, n_dimensions=n_dimensions)


def open_any(path: Path) -> Any:
    """Open a corpus, model or index."""
    kind = is_directory_of(path)
    if kind == "model":
        return load(path)
    if kind == "index":
        return Index.open(path)
    if not path.exists():
        msg = f"{path}: expected a semascope corpus, model or index, but there is no such directory."
        raise FormatError(msg)
    if kind == "checkpoint":
        msg = f"{path}: is the checkpoint of an unfinished run; finish it with: semascope fit … --resume"
        raise FormatError(msg)
    return Corpus.open(path)


def _check_is_free(target: Path, kind: str, *, overwrite: bool) -> None:
    check_target(target, kind)
    if is_directory_of(target) == kind and not overwrite:
        msg = f"{target}: exists already; choose another path, or replace it with --overwrite."
        raise InputError(msg)

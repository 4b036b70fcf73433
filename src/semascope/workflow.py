"""From source to corpus to model to index, each a directory: what the command line calls."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semascope import resources as machine
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
    """Read documents, count their words and save the corpus, block by block.

    Parameters
    ----------
    watch : callable, optional
        Told the number of documents read so far.
    """
    if target.resolve().is_relative_to(Path(documents.source).resolve()):
        msg = f"{target}: lies inside the source; write the corpus elsewhere."
        raise InputError(msg)
    _check_is_free(target, "corpus", overwrite=overwrite)
    return Corpus.build(documents, analyzer, path=target, watch=watch)


def should_spill(corpus: Corpus, n_topics: int) -> bool:
    """Tell whether what is known of each document would take more than half of the memory that is left.

    That is its topics, as numbers of four bytes, now and before, and once more while they are gathered at the end; and the
    entries by word.
    """
    left = machine.free_memory()
    n_topics = min(n_topics, corpus.n_words)  # more are refused
    return left is not None and 12 * corpus.n_documents * n_topics + 8 * len(corpus.rows.words) > left / 2


@dataclass(frozen=True)
class FitResult:
    """A fitted model that lies in its directory; `unfinished` is where an interrupted run can be taken up."""

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
        What to learn from. Of a split corpus one part is learned from, and the fit is judged by the other while it goes on.
    """
    checkpoints = Checkpoints(checkpoint_of(target), seconds=checkpoint_seconds, resume=resume)
    engine.run_on_root(lambda: _prepare_target(target, checkpoints, overwrite=overwrite))
    model: Any = entries()[model_name].load_class()(**settings, engine=engine, verbose=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedFitWarning)  # the caller is told by `unfinished`
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
    """See that nothing is in the way of a new run, or that there is one to resume."""
    check_target(checkpoints.directory, "checkpoint")
    if checkpoints.resume and not checkpoints.exists():
        msg = f"{target}: there is no unfinished run to resume; leave out --resume to start one."
        raise InputError(msg)
    if checkpoints.exists() and not (checkpoints.resume or overwrite):
        msg = f"{target}: an unfinished run is there; go on with --resume, or start anew with --overwrite."
        raise InputError(msg)
    _check_is_free(target, "model", overwrite=overwrite or checkpoints.resume)
    target.parent.mkdir(parents=True, exist_ok=True)


def checkpoint_of(target: Path) -> Path:
    """Where the checkpoint of a model being fitted lies."""
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
    """Change the topics of a model by hand and save it; to the same place only with `overwrite`, unless nothing is lost."""
    in_place = source.resolve() == target.resolve()
    if in_place and (merge or remove) and not overwrite:
        msg = f"{source}: merging and removing lose topics; write to another path, or change this model with --overwrite."
        raise InputError(msg)
    model: TopicModel = load_topics(source)
    changed = model.edit_topics(rename=rename, merge=merge, remove=remove)
    _check_is_free(target, "model", overwrite=overwrite or in_place)
    changed.save(target)
    return changed


def index(
    source: Path, target: Path, corpus: Path | None = None, n_dimensions: int | None = None, *, overwrite: bool = False
) -> Index:
    """Index documents and save that: those of a corpus, or those that a model was fitted to.

    Parameters
    ----------
    source : path
        A corpus, or a model to search by.
    corpus : path, optional
        Documents to index in place of those that the model was fitted to.
    """
    _check_is_free(target, "index", overwrite=overwrite)
    model, problem = open_any(source), None
    if isinstance(model, Index):
        problem = "is an index already; expected a semascope model or corpus"
    elif isinstance(model, Corpus) and corpus is not None:
        problem = "is a corpus, which --corpus would name once more; expected a semascope model"
    elif not isinstance(model, Corpus) and model.kind == DIMENSIONS and n_dimensions is not None:
        problem = f"is {type(model).__name__} and brings its own dimensions; leave out --dimensions"
    if problem:
        msg = f"{source}: {problem}."
        raise InputError(msg)
    if isinstance(model, Corpus):
        return Index.build(model, path=target, n_dimensions=n_dimensions)
    documents = own_corpus(model) if corpus is None else Corpus.open(corpus)
    return Index.build(documents, model, path=target, n_dimensions=n_dimensions)


def open_any(path: Path) -> Any:
    """Open a directory, whatever it holds."""
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
        msg = f"{target}: is there already; give another path, or replace it with --overwrite."
        raise InputError(msg)

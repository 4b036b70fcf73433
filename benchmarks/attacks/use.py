"""What is done with a directory: everything that it is for."""

from __future__ import annotations

import io
import os
import shutil
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import numpy as np

import semascope as ss
from benchmarks.attacks import fixtures, sources, twins
from benchmarks.attacks.cases import API, Case
from benchmarks.attacks.fixtures import CHECKPOINTED, LABELS, MORE, NEW_TEXTS, QUERY, TOPICS
from benchmarks.attacks.outcomes import Attempts

METHODS = ("bm25", "cosine", "lsa", "kl", "lda", "fisher", "hybrid")
MORE_DOCUMENTS = {"model-priors": list(NEW_TEXTS[:1]), "model-polylingual": None}
"""What a stream goes on with, where that cannot be any documents."""
QUICK = {"max_iter": 2, "tol": 0, "random_state": 0}


def use(case: Case, path: Path, attempt: Attempts) -> None:
    """Do everything with what a case attacks."""
    scratch = path.parent / "scratch"
    scratch.mkdir()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if case.by != API:
            command(case, path, scratch, attempt)
        else:
            KINDS[case.format](case, path, scratch, attempt)


# --- corpora ---------------------------------------------------------------------------------------------------------------


def use_corpus(case: Case, path: Path, scratch: Path, attempt: Attempts) -> None:
    """Open a corpus, look at all of it, fit models to it, divide and save it."""
    corpus = attempt("open", lambda: ss.Corpus.open(path))
    if corpus is None:
        return
    counts = attempt("counts", lambda: corpus.counts.toarray())
    attempt("ids", lambda: (corpus.ids.to_list(), corpus.labels.to_list(), corpus.documents.rows()))
    attempt("texts", lambda: corpus.texts.to_list())
    attempt("words", lambda: (corpus.vocabulary.tolist(), corpus.word_languages.tolist(), repr(corpus)))
    attempt("shards", lambda: [_looked_at(ref.open()) for ref in corpus.shards()])
    if counts is not None:
        attempt.compare("counts", lambda: twins.corpus(path, corpus, counts))
    _fit_to(corpus, attempt)
    attempt("divide", lambda: [part.n_tokens for part in corpus.split(0.3)] + [corpus.filter([0, 1]).n_words])
    attempt("languages", lambda: [corpus.in_language(code).n_words for code in corpus.languages if code])
    attempt("align", lambda: corpus.filter([0, 1]).reindexed(corpus.lexicon).counts.sum())
    attempt("save", lambda: corpus.save(scratch / "saved"))
    attempt("index", lambda: ss.Index.build(corpus, n_dimensions=3).search(QUERY, k=3))


def _looked_at(shard: Any) -> Any:
    return shard.by_word, shard.counts_by_word.sum(), shard.lengths.sum()


def _fit_to(corpus: ss.Corpus, attempt: Attempts) -> None:
    double = {"random_state": 0, "tol": 0, "dtype": "float64"}
    for kind, compare in ((ss.PLSA, twins.em_step), (ss.LDA, twins.cvb0_step)):
        name = kind.__name__
        one = attempt(f"fit {name}", lambda kind=kind: kind(TOPICS, max_iter=1, **double).fit(corpus))
        two = attempt(f"fit {name}", lambda kind=kind: kind(TOPICS, max_iter=2, **double).fit(corpus))
        if one is not None and two is not None:
            attempt.compare(f"fit {name}", lambda one=one, two=two, compare=compare: compare(corpus, one, two))
            attempt(f"coherence {name}", lambda two=two: (two.coherence(corpus, n=3), two.perplexity(corpus)))
    vb = attempt("fit VB", lambda: ss.LDA(TOPICS, inference="vb", **QUICK).fit(corpus))
    lsa = attempt("fit LSA", lambda: ss.LSA(TOPICS, **QUICK).fit(corpus))
    for step, model in (("fit VB", vb), ("fit LSA", lsa)):
        if model is not None:
            attempt.compare(step, lambda model=model: twins.finite(corpus, model.components_))
    if attempt("labels", lambda: corpus.labels.list.len().sum()):
        labeled = attempt("fit LabeledLDA", lambda: ss.LabeledLDA(max_iter=2, random_state=0).fit(corpus))
        if labeled is not None:
            attempt.compare("fit LabeledLDA", lambda: twins.rows_sum_to_one(corpus, labeled.components_))


# --- models ----------------------------------------------------------------------------------------------------------------


def use_model(case: Case, path: Path, scratch: Path, attempt: Attempts) -> None:
    """Load a model, and do all that models of its kind can."""
    model = attempt("load", lambda: ss.load(path))
    if model is None:
        return
    new = _new_documents(case.fixture)
    attempt("words", lambda: (model.vocabulary_.tolist(), repr(model), model.get_feature_names_out().tolist()))
    found = attempt("transform", lambda: np.asarray(model.transform(new)))
    if found is not None:
        attempt.compare("transform", lambda: twins.transformed(case.fixture, path, new, found))
    attempt("coherence", lambda: (model.coherence(new, n=3), model.diversity(3)))
    for kind, work in ((ss.LSA, _use_lsa), ((ss.LabeledLDA, ss.OnlineLabeledLDA), _use_labels)):
        if isinstance(model, kind):
            work(model, new, path, attempt)
    if hasattr(model, "doc_topics_"):
        _use_topics(model, new, attempt, more=MORE_DOCUMENTS.get(case.fixture, new))
    attempt("save", lambda: model.save(scratch / "saved"))
    attempt("save again", lambda: ss.load(scratch / "saved").transform(new) if (scratch / "saved").exists() else None)


def _new_documents(fixture: str) -> Any:
    if fixture.endswith("matrix"):
        return fixtures.counts()[:5]
    if fixture == "model-polylingual":
        return [{"en": NEW_TEXTS[0], "de": NEW_TEXTS[1].replace("w", "v")}, {"de": NEW_TEXTS[2].replace("w", "v")}]
    return list(NEW_TEXTS)


def _use_topics(model: Any, new: Any, attempt: Attempts, more: Any) -> None:
    attempt("top words", lambda: model.top_words(5, weights=True))
    attempt("word topics", lambda: model.word_topics(new).rows())
    attempt("perplexity", lambda: model.perplexity(new))
    attempt("topic map", lambda: model.topic_map() if hasattr(model, "topic_map") else None)
    attempt("documents", lambda: np.asarray(model.doc_topics_).sum(axis=1))
    if hasattr(model, "partial_fit") and more is not None:
        attempt("partial fit", lambda: model.partial_fit(more))
        attempt("after partial fit", lambda: (model.transform(new), model.top_words(3)))


def _use_lsa(model: Any, new: Any, path: Path, attempt: Attempts) -> None:
    attempt("similar words", lambda: model.similar_words("w0x1", 3))
    attempt("similar documents", lambda: (model.similar_documents(0, 3), model.similar_documents(NEW_TEXTS[0], 3)))
    attempt("perplexity", lambda: model.perplexity(new) if model.weighting == "hellinger" else None)


def _use_labels(model: Any, new: Any, path: Path, attempt: Attempts) -> None:
    table = attempt("components", lambda: np.asarray(model.components_))
    if table is not None:
        attempt.compare("components", lambda: twins.label_words(path, table))
    attempt("top words", lambda: model.top_words(n=4, weights=True))
    attempt("predict", lambda: (model.predict(new), model.predict_proba(new)))
    attempt("perplexity", lambda: model.perplexity(new, [[model.label_names_[0]]] * len(new)))
    if isinstance(new, list):
        attempt("attribute", lambda: (model.attribute(NEW_TEXTS[0], LABELS[0]), model.snippet(NEW_TEXTS[2], LABELS[1])))
    if hasattr(model, "partial_fit"):
        more = [record["text"] for record in fixtures.records(30, seed=3)]
        labels = [record["labels"] for record in fixtures.records(30, seed=3)]
        attempt("partial fit", lambda: model.partial_fit(more, labels))
        attempt("after partial fit", lambda: (model.predict(new), model.top_words(n=2)))


# --- indexes ---------------------------------------------------------------------------------------------------------------


def use_index(case: Case, path: Path, scratch: Path, attempt: Attempts) -> None:
    """Open an index, search it in every way, change and save it."""
    index = attempt("open", lambda: ss.Index.open(path))
    if index is None:
        return
    language = {"language": "en"} if case.fixture == "index-languages" else {}
    known = attempt("documents", lambda: [one for one in index.ids.to_list() if one is not None]) or ["d0"]
    for by in METHODS if index.topics is not None else ("bm25", "cosine", "lsa", "hybrid"):
        found = attempt(f"search by {by}", lambda by=by: index.search(QUERY, k=100, by=by, **language))
        if found is not None:
            attempt.compare(f"search by {by}", lambda by=by, found=found: twins.searched(path, index, by, found))
    attempt("several", lambda: index.search([QUERY, "w3x3"], k=2, **language))
    attempt("similar", lambda: index.similar(known[0], k=5))
    for where in ({"label": "cats"}, {"date": ("2005", None)}, {"title": ["Title 1", "Title 2"]}):
        if case.fixture == "index-topics":
            attempt("where", lambda where=where: index.search(QUERY, k=5, where=where))
    attempt("related", lambda: index.related_words(QUERY, 5, **language))
    attempt("facts", lambda: (repr(index), len(index), index.documents([0, 1]).rows()))
    new = [{"en": text} for text in NEW_TEXTS] if language else list(NEW_TEXTS)
    attempt("add", lambda: index.add(new, ids=["a", "b", "c"]))
    attempt("delete", lambda: index.delete(known[0]))
    attempt("merge", lambda: (index.merge(), index.search(QUERY, k=5, **language)))
    attempt("save", lambda: index.save(scratch / "saved"))


# --- checkpoints, streams, sources -----------------------------------------------------------------------------------------


def use_checkpoint(case: Case, path: Path, scratch: Path, attempt: Attempts) -> None:
    """Resume a fit from its checkpoint."""
    name = case.fixture.partition("-")[2]
    corpus = ss.Corpus.open(Path(case.home) / "corpus-labels")
    model = attempt("resume", lambda: CHECKPOINTED[name](MORE).fit(corpus, checkpoints=ss.Checkpoints(path, resume=True)))
    if model is not None:
        attempt.compare("resume", lambda: twins.resumed(name, corpus, path, model))
        attempt("transform", lambda: model.transform(list(NEW_TEXTS)))


def use_stream(case: Case, path: Path, scratch: Path, attempt: Attempts) -> None:
    """Go on with a stream whose journal was left behind."""
    command(case, path, scratch, attempt, "stream")


def use_source(case: Case, path: Path, scratch: Path, attempt: Attempts) -> None:
    """Build a corpus of a source, in memory and on disk, with and without what cannot be read."""
    read: Callable[..., Any] = ss.read_counts if case.file in sources.COUNTS else ss.read
    settings = {"format": sources.FORMATS[case.file]} if case.file in sources.FORMATS else {}
    corpus = attempt("build", lambda: ss.Corpus.build(read(path, **settings)))
    if corpus is not None:
        attempt.compare("build", lambda: twins.built(corpus))
        attempt("fit", lambda: ss.PLSA(1, **QUICK).fit(corpus))
    attempt("skip bad", lambda: ss.Corpus.build(read(path, skip_bad=True, **settings), path=scratch / "corpus"))


# --- commands --------------------------------------------------------------------------------------------------------------


def command(case: Case, path: Path, scratch: Path, attempt: Attempts, name: str | None = None) -> None:
    """Return a directory to a command; its one sentence on standard error is what people see of a refusal."""
    name = name or case.by
    arguments = [name, *_arguments(name, case, path, scratch)]
    printed, told = io.StringIO(), io.StringIO()
    code = attempt(f"semascope {name}", lambda: _run(arguments, printed, told))
    if code not in (0, None):
        attempt.refused(f"semascope {name}", told.getvalue())


def _run(arguments: list[str], printed: io.StringIO, told: io.StringIO) -> int:
    from semascope.cli.main import app

    before, sys.argv = sys.argv, ["semascope", *arguments]
    try:
        with redirect_stdout(printed), redirect_stderr(told):
            app()
    except SystemExit as end:
        return int(end.code or 0) if not isinstance(end.code, str) else 1
    finally:
        sys.argv = before
    return 0


def _arguments(name: str, case: Case, path: Path, scratch: Path) -> list[str]:
    source = str(Path(case.home) / "sources" / "docs.jsonl")
    corpus = str(Path(case.home) / "corpus-labels")
    empty = scratch / "nothing.jsonl"
    with suppress(FileExistsError):
        empty.touch(exist_ok=False)
    if name == "fit" and case.format == "checkpoint":
        return _resuming(path, scratch, corpus)
    of_command = {
        "info": [str(path)],
        "fit": [str(path), str(scratch / "model"), "--topics", "2", "--max-iter", "2"],
        "topics": [str(path), "--json"],
        "infer": [str(path), source],
        "evaluate": [str(path), corpus, "--words", "3"],
        "report": [str(path), str(scratch / "out.html"), "--corpus", corpus],
        "predict": [str(path), source],
        "attribute": [str(path), NEW_TEXTS[0]],
        "neighbors": [str(path), "w0x1"],
        "search": [str(path), QUERY, "--json"],
        "index-add": [str(path), source, "--replace"],
        "stream": [str(path / "model"), "--input", str(empty)],
    }
    return of_command[name]


def _resuming(path: Path, scratch: Path, corpus: str) -> list[str]:
    """Put a checkpoint where the command looks for that of its model."""
    target = scratch / "resumed"
    shutil.copytree(path, target.with_name("resumed.checkpoint"), symlinks=True, copy_function=os.link)
    settings = ["--model", "lda", "--topics", str(TOPICS), "--max-iter", str(MORE), "--tol", "0", "--seed", "0"]
    return [corpus, str(target), *settings, "--resume"]


KINDS: dict[str, Callable[[Case, Path, Path, Attempts], None]] = {
    "corpus": use_corpus,
    "model": use_model,
    "index": use_index,
    "checkpoint": use_checkpoint,
    "stream": use_stream,
    "source": use_source,
}

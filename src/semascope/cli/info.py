"""semascope info PATH"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from semascope.cli.app import AsJson, command, console, print_json, say_next


@command
def info(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="Corpus or model directory.")],
    as_json: AsJson = False,
) -> None:
    """Say what is in PATH."""
    from semascope import workflow
    from semascope.corpus.corpus import Corpus

    found = workflow.open_any(path)
    facts = _of_corpus(found) if isinstance(found, Corpus) else _of_model(found)
    if as_json:
        print_json(facts)
        return
    from rich.table import Table

    table = Table(box=None, show_header=False)
    table.add_column(style="cyan")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), _readable(value))
    console().print(table)
    if isinstance(found, Corpus):
        say_next(["semascope", "fit", path, "MODEL", "--topics", min(32, found.n_documents, found.n_words)])
    else:
        say_next(["semascope", "topics", path])


def _of_corpus(corpus: Any) -> dict[str, Any]:
    n_entries = len(corpus.rows.words)
    labels = corpus.labels.list.explode()
    return {
        "kind": "corpus",
        "documents": corpus.n_documents,
        "empty_documents": int((corpus.rows.ends[1:] == corpus.rows.ends[:-1]).sum()),
        "words": corpus.n_words,
        "tokens": corpus.n_tokens,
        "tokens_per_document": round(corpus.n_tokens / corpus.n_documents, 1),
        "density": n_entries / (corpus.n_documents * corpus.n_words),
        "labels": labels.drop_nulls().n_unique(),
        "most_frequent_words": corpus.words[:12].to_list(),
        "fields": corpus.documents.columns,
        "shards": len(corpus.shards()),
        "analyzer": corpus.analyzer.to_dict() if corpus.analyzer else None,
        "fingerprint": corpus.fingerprint,
    }


def _of_model(model: Any) -> dict[str, Any]:
    return {
        "kind": "model",
        "model": type(model).__name__,
        "topics": model.components_.shape[0],
        "words": model.components_.shape[1],
        "documents": model.doc_topics_.shape[0],
        "iterations": model.n_iter_,
        "stopped_by": model.stopped_by_,
        "log_likelihood": model.log_likelihood_[-1],
        "settings": {k: v for k, v in model.get_params().items() if k not in ("engine", "verbose")},
        "corpus": model.corpus_["path"],
        "corpus_fingerprint": model.corpus_["fingerprint"],
    }


def _readable(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k}={v}" for k, v in value.items())
    if isinstance(value, list):
        return " ".join(map(str, value))
    if isinstance(value, float):
        return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)

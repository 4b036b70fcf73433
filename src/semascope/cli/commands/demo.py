"""semascope demo"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from semascope.cli.app import command, topic_table
from semascope.cli.render.terminal import MAX_LINE_LENGTH, console, print_next_step, waiting

SENTENCE = "Send an e-mail message over an encrypted socket and parse the headers of the reply."


@command
def demo(
    directory: Annotated[Path, typer.Argument(metavar="DIRECTORY", help="Directory for the corpus and the model.")] = Path(
        "demo"
    ),
    topics: Annotated[int, typer.Option(min=1, help="Number of topics.")] = 20,
) -> None:
    """Fit a topic model to the docstrings of Python's standard library."""
    from rich.console import Group

    from semascope import workflow
    from semascope.cli.render.screen import Parts
    from semascope.corpus.readers.sources import read
    from semascope.corpus.text.analyzer import Analyzer
    from semascope.engines.threads import ThreadEngine

    corpus_path, model_path = directory / "corpus", directory / "model"
    analyzer = Analyzer(stop_words="english", min_length=3, min_df=5, max_df=0.1)
    with waiting("Reading the docstrings of the standard library"):
        corpus = workflow.build(read("stdlib:"), corpus_path, analyzer, overwrite=True)
    settings = {"n_components": topics, "random_state": 0, "tol": 1e-5, "max_iter": 200}
    model: Any = workflow.fit(corpus, model_path, "PLSA", settings, ThreadEngine(), overwrite=True).model
    out = console()
    out.print(f"Python's standard library: {corpus.n_documents:,} docstrings, {corpus.n_tokens:,.0f} words, {topics} topics.")
    out.print()
    out.print(topic_table(model, n_words=9))
    (row,) = model.transform([SENTENCE])
    best = (-row).argsort()[:3]
    described = "; ".join(f"{row[z]:.0%} topic {z} ({' '.join(model.top_words(3)[z])})" for z in best if row[z] >= 0.01)
    out.print(Group("", f"“{SENTENCE}”", Parts(f"  is {described}.", limit=MAX_LINE_LENGTH), ""))
    look, about = ["semascope", "topics", model_path], ["semascope", "info", corpus_path]
    print_next_step(look, ["semascope", "explore", model_path], about, ["semascope", "build", "YOUR.jsonl", "CORPUS"])

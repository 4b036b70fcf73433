"""semascope topics MODEL"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from semascope.cli.app import AsJson, ModelPath, command, topic_table
from semascope.cli.render.terminal import console, print_json, print_next_step
from semascope.models.registry import LABELS


@command
def topics(
    model: ModelPath,
    words: Annotated[int, typer.Option(min=1, help="Number of words to show per topic.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Show the topics or labels of MODEL, largest first."""
    from semascope.models.loading import load_topics

    fitted = load_topics(model, or_labels=True)
    if fitted.kind == LABELS:
        _show_labels(model, fitted, words, as_json)
        return
    if as_json:
        names, shares = fitted.topic_names_, fitted.topic_shares_.tolist()
        by_language = [(code, fitted.top_words(words, weights=True, language=code)) for code in fitted.languages_ or (None,)]
        for topic, name in enumerate(names):
            entries = [
                {"word": word, "probability": p} | ({"language": code} if code else {})
                for code, top in by_language
                for word, p in top[topic]
            ]
            print_json({"topic": topic, "name": name, "share": shares[topic], "words": entries})
        return
    console().print(topic_table(fitted, words))
    print_next_step(["semascope", "infer", model, "SOURCE"], ["semascope", "info", model], ["semascope", "edit", "--help"])


def _show_labels(path: Path, model: Any, n_words: int, as_json: bool) -> None:
    from semascope.cli.render.tables import MAX_LABELS, label_table, print_labels

    if as_json:
        print_labels(model, n_words)
        return
    console().print(label_table(model, n_words))
    if (more := len(model.topic_names_) - MAX_LABELS) > 0:
        console().print(f"and {more:,} more; --json prints all", style="dim")
    print_next_step(["semascope", "predict", path, "SOURCE"], ["semascope", "attribute", path, "TEXT"])

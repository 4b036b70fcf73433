"""How dimensions of LSA are shown."""

from __future__ import annotations

from typing import Any

from semascope.cli.terminal import console

SHOWN = 10
"""Dimensions that are shown with their words; of the others only the singular values are."""


def show_dimensions(model: Any, n_words: int = 6) -> None:
    """Print the words at both ends of the first dimensions, and all singular values as a picture."""
    import numpy as np
    from rich.table import Table

    from semascope.cli.pictures import Gallery, bars, picture
    from semascope.cli.screen import words_in_a_line

    table = Table(box=None, header_style="bold")
    table.add_column("dimension", justify="right", style="cyan")
    table.add_column("σ", justify="right")
    table.add_column("words at one end", overflow="fold")
    table.add_column("words at the other", overflow="fold")
    words, values = model.vocabulary_, np.asarray(model.singular_values_)
    for number, vector in enumerate(np.asarray(model.components_)[:SHOWN]):
        order = np.argsort(-vector, kind="stable")
        ends = [words[j] for j in order[:n_words] if vector[j] > 0], [words[j] for j in order[::-1][:n_words] if vector[j] < 0]
        table.add_row(str(number), f"{values[number]:.4g}", *(words_in_a_line(end) for end in ends))
    console().print(table)
    places = np.unique(np.geomspace(1, len(values), min(len(values), 12)).round().astype(int))
    rows = [(f"{place}", float(values[place - 1]), f"{values[place - 1]:.3g}") for place in places]
    console().print("", Gallery([picture("Singular values", "by rank", bars(rows))]), soft_wrap=False)

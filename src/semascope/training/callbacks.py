"""Progress bar on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from semascope.training.loop import Callback, IterationInfo


@contextmanager
def progress_bar(
    title: str, *, max_iter: int, n_tokens: float, show: bool, measure: str = "log-likelihood", per_token: bool = True
) -> Iterator[Callback | None]:
    """Print objective, speed and remaining time on a terminal; yield None elsewhere."""
    if not show or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[facts]}"),
        TimeElapsedColumn(),
        TextColumn("remaining (at most)"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=max_iter, facts="")

        def show_iteration(info: IterationInfo) -> None:
            speed = n_tokens * info.iteration / max(info.seconds, 1e-9)
            scale, unit = (max(n_tokens, 1e-300), " per token") if per_token else (1.0, "")
            objective = f"{measure} {info.history[-1] / scale:.4f}{unit}" if info.history else ""
            facts = ", ".join(part for part in (info.status, objective, f"{speed / 1e6:.1f} M tokens/s") if part)
            progress.update(task, completed=len(info.history), facts=facts)

        yield show_iteration

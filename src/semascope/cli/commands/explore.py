"""semascope explore MODEL"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from typing import Annotated

import typer

from semascope.cli.app import ModelPath, command
from semascope.cli.render.terminal import print_text
from semascope.errors import MissingExtraError


@command
def explore(
    model: ModelPath,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any that is free.")] = 8000,
    host: Annotated[
        str, typer.Option(help="Address to listen on. Others than this machine's own need a token, which is made.")
    ] = "127.0.0.1",
    corpus: Annotated[
        Path | None, typer.Option(metavar="CORPUS", help="Documents to show, if they are not where the model was fitted.")
    ] = None,
    index: Annotated[
        Path | None, typer.Option(metavar="INDEX", help="Index to search, by default MODEL.index or one made at the start.")
    ] = None,
    learn: Annotated[bool, typer.Option("--learn", help="Learn from what is posted to /api/stream.")] = False,
    token: Annotated[str | None, typer.Option(help="What requests must show.", envvar="SEMASCOPE_TOKEN")] = None,
    open: Annotated[
        bool | None, typer.Option("--open/--no-open", help="Open it in a browser.", show_default="on a terminal")
    ] = None,
) -> None:
    """Look at a model in the browser: its topics or labels, documents, and search; with an API for programs."""
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        msg = "the explorer needs fastapi and uvicorn; install them with: pip install 'semascope[explore]'"
        raise MissingExtraError(msg)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # many small requests at once do better without
    from semascope.explorer.server import Settings, serve

    def say(address: str) -> None:
        print_text(f"{model}: open {address}", "Ctrl-C stops it.")
        if open if open is not None else sys.stderr.isatty():
            _open_soon(address)

    settings = Settings(model, corpus, index, host, port, token, learn)
    try:
        serve(settings, say)
    except KeyboardInterrupt:  # how it is meant to end
        print_text(f"{model}: no longer served.")


def _open_soon(address: str) -> None:
    """Open a browser once the server has had time to start."""
    import webbrowser

    timer = Timer(0.3, lambda: webbrowser.open(address))
    timer.daemon = True
    timer.start()

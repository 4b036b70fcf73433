"""What LDA is told on the command line: word lists, and languages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from semascope.cli.by_language import listed

if TYPE_CHECKING:
    from semascope.corpus.corpus import Corpus


def informed_prior(files: list[str], strength: float | None, eta: float | str | None) -> Any:
    """Read word lists: one file for all languages, or ``en=FILE`` for each."""
    from semascope.models.informed import InformedPrior

    if not files:
        message = "--prior-strength needs --prior, which says whose strength it is."
        raise typer.BadParameter(message)
    if eta == "auto":
        message = "--eta auto does not go with --prior: a prior that is informed is not learned."
        raise typer.BadParameter(message)
    told = {"strength": strength, "base": eta}
    settings: dict[str, Any] = {name: value for name, value in told.items() if value is not None}
    named = dict(_named(file) for file in files)
    if len(named) < len(files) or ("" in named and len(named) > 1):
        message = "--prior takes one file, or one for each language: --prior en=FILE --prior de=FILE."
        raise typer.BadParameter(message)
    priors = {language: InformedPrior.from_file(path, **settings) for language, path in named.items()}
    return priors.get("", priors)


def _named(file: str) -> tuple[str, str]:
    """Give the language, if it is named, and the path."""
    language, sign, path = file.partition("=")
    return (language, path) if sign and not Path(file).exists() else ("", file)


def in_languages(corpus: Corpus, wanted: str | None) -> Corpus:
    """Take some languages of a corpus; all by default."""
    if wanted is None:
        return corpus
    codes = listed(wanted)
    if not codes:
        message = f"--languages takes codes with commas between them, not {wanted!r}."
        raise typer.BadParameter(message)
    return corpus.in_language(*codes)

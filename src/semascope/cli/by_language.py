"""Options that say something of each language: en=english,de=german."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from semascope.errors import InputError

if TYPE_CHECKING:
    from semascope.corpus.analyzers import Analyzers

AUTO = "auto"


def listed(names: str) -> list[str]:
    """Give what commas separate."""
    return [name.strip() for name in names.split(",") if name.strip()]


def fields_of_text(text: Sequence[str] | None, texts: str | None, languages: Sequence[str]) -> dict[str, Any]:
    """Say where texts are, as `semascope.read` takes it."""
    if texts is not None and text:
        message = "--texts names a field of texts by language, --text one of text: give only one of them."
        raise typer.BadParameter(message)
    if not languages or not text:
        by_object = bool(languages) or texts is not None
        return {"texts": texts, "languages": list(languages) or None} if by_object else {"text": list(text or ["text"])}
    pairs = [_pair("--text", one, languages) for one in text]
    fields = {language: [field for named, field in pairs if named == language] for language in languages}
    for language in languages:
        if not fields[language]:
            message = f"--text names no field for {language!r}; give one for each language, as in --text {language}=FIELD."
            raise typer.BadParameter(message)
    return {"text": fields}


def analyzers_for(languages: Sequence[str], stop_words: str | None, stemmer: str | None, settings: dict[str, Any]) -> Analyzers:
    """Make one analyzer, or one for each language where stop words or stems are told by language."""
    from semascope.corpus.analyze import Analyzer

    stopped = _told("--stop-words", stop_words, languages, _stop_words)
    stemmed = _told("--stemmer", stemmer, languages, _language)
    if not isinstance(stopped, dict) and not isinstance(stemmed, dict):
        return Analyzer(stop_words=stopped, stemmer=stemmed, **settings)

    def of(told: Any, language: str) -> Any:
        return told.get(language) if isinstance(told, dict) else told

    return {one: Analyzer(stop_words=of(stopped, one), stemmer=of(stemmed, one), **settings) for one in languages}


def _told(option: str, value: str | None, languages: Sequence[str], understood: Callable[[str], Any]) -> Any:
    """Give what an option says: of each language in a dictionary, or of all of them alike."""
    if value == AUTO and not languages:
        message = f"{option} auto needs to know the languages: name them with --languages."
        raise typer.BadParameter(message)
    if value == AUTO:
        return {language: understood(language) for language in languages}
    if value is None or not languages or "=" not in value:
        return None if value is None else understood(value)
    pairs = [_pair(option, one, languages) for one in listed(value)]
    return {language: understood(said) for language, said in pairs}


def _pair(option: str, value: str, languages: Sequence[str]) -> tuple[str, str]:
    language, _, said = value.partition("=")
    if language not in languages or not said:
        message = f"{option} takes LANGUAGE=… with one of the languages {', '.join(languages)}, not {value!r}."
        raise typer.BadParameter(message)
    return language, said


def _language(value: str) -> str:
    """Give the name of a language that may be told by its code."""
    from semascope.corpus.languages import name_of

    return name_of(value) or value


def _stop_words(value: str) -> str | list[str]:
    from semascope.corpus.stopwords import stop_word_languages

    if (name := _language(value)) in (languages := stop_word_languages()):
        return name
    path = Path(value)
    if not path.is_file():
        message = f"{value}: no file of stop words, nor a language that has them; these have: {', '.join(languages)}."
        raise InputError(message)
    try:
        return path.read_text(encoding="utf-8").split()
    except UnicodeDecodeError:
        message = f"{value}: the file of stop words is not UTF-8; convert it first, with iconv for example."
        raise InputError(message) from None

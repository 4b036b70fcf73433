"""Options that several commands share: engines, languages, priors."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from semascope.cli.render.terminal import print_text
from semascope.errors import InputError

if TYPE_CHECKING:
    from semascope.corpus.corpus import Corpus
    from semascope.corpus.text.analyzer import Analyzers


class EngineName(enum.StrEnum):
    """Engines to fit models on."""

    threads = "threads"
    mpi = "mpi"
    spark = "spark"


OWN_OPTIONS = {
    EngineName.threads: ("threads", "spill"),
    EngineName.mpi: ("threads", "spill", "work-dir"),
    EngineName.spark: ("master", "work-dir"),
}
"""Options that an engine takes."""


def engine_of(name: EngineName, threads: int | None, master: str | None, work_dir: Path | None, spill: bool | None) -> Any:
    """Make the engine, which must take all options that were given."""
    given = {"threads": threads, "master": master, "work-dir": work_dir, "spill": spill or None}
    for option, value in given.items():
        if value is not None and option not in OWN_OPTIONS[name]:
            takes = " or ".join(engine for engine, options in OWN_OPTIONS.items() if option in options)
            message = f"--{option} is for --engine {takes}, not for {name}."
            raise typer.BadParameter(message)
    if name == EngineName.threads:
        from semascope.engines.threads import ThreadEngine

        return ThreadEngine(threads)
    if name == EngineName.spark:
        from semascope.engines.spark.engine import SparkEngine

        return SparkEngine(master, work_dir)
    from semascope.engines.mpi import MPIEngine

    engine = MPIEngine(threads, work_dir)
    if engine.n_ranks == 1:
        print_text("There is one MPI rank only; for more, start with: mpirun -n 4 semascope fit … --engine mpi")
    return engine


def spilling(engine: Any, *, spill: bool) -> Any:
    """The engine, told whether to keep documents' topics in files; on Spark they always are."""
    return replace(engine, spill=spill) if hasattr(engine, "spill") else engine


AUTO = "auto"


def parse_list(names: str) -> list[str]:
    """Return what commas separate."""
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
    from semascope.corpus.text.analyzer import Analyzer

    stopped = _parse_pairs("--stop-words", stop_words, languages, _stop_words)
    stemmed = _parse_pairs("--stemmer", stemmer, languages, _language)
    if not isinstance(stopped, dict) and not isinstance(stemmed, dict):
        return Analyzer(stop_words=stopped, stemmer=stemmed, **settings)

    def of(told: Any, language: str) -> Any:
        return told.get(language) if isinstance(told, dict) else told

    return {one: Analyzer(stop_words=of(stopped, one), stemmer=of(stemmed, one), **settings) for one in languages}


def _parse_pairs(option: str, value: str | None, languages: Sequence[str], understood: Callable[[str], Any]) -> Any:
    """Return what an option says: of each language in a dictionary, or of all of them alike."""
    if value == AUTO and not languages:
        message = f"{option} auto needs to know the languages: name them with --languages."
        raise typer.BadParameter(message)
    if value == AUTO:
        return {language: understood(language) for language in languages}
    if value is None or not languages or "=" not in value:
        return None if value is None else understood(value)
    pairs = [_pair(option, one, languages) for one in parse_list(value)]
    return {language: understood(said) for language, said in pairs}


def _pair(option: str, value: str, languages: Sequence[str]) -> tuple[str, str]:
    language, _, said = value.partition("=")
    if language not in languages or not said:
        message = f"{option} takes LANGUAGE=… with one of the languages {', '.join(languages)}, not {value!r}."
        raise typer.BadParameter(message)
    return language, said


def _language(value: str) -> str:
    """Return the name of a language that may be told by its code."""
    from semascope.corpus.text.languages import name_of

    return name_of(value) or value


def _stop_words(value: str) -> str | list[str]:
    from semascope.corpus.text.languages import stop_word_languages

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


def informed_prior(files: list[str], strength: float | None, eta: float | str | None) -> Any:
    """Read word lists: one file for all languages, or ``en=FILE`` for each."""
    from semascope.models.priors.informed import InformedPrior

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
    """Return the language, if it is named, and the path."""
    language, sign, path = file.partition("=")
    return (language, path) if sign and not Path(file).exists() else ("", file)


def in_languages(corpus: Corpus, wanted: str | None) -> Corpus:
    """Take some languages of a corpus; all by default."""
    if wanted is None:
        return corpus
    codes = parse_list(wanted)
    if not codes:
        message = f"--languages takes codes with commas between them, not {wanted!r}."
        raise typer.BadParameter(message)
    return corpus.in_language(*codes)

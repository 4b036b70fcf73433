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
    """Engines to fit a model with."""

    threads = "threads"
    mpi = "mpi"
    spark = "spark"


OWN_OPTIONS = {
    EngineName.threads: ("threads", "spill"),
    EngineName.mpi: ("threads", "spill", "work-dir"),
    EngineName.spark: ("master", "work-dir"),
}
"""Options of each engine."""


def create_engine(name: EngineName, threads: int | None, master: str | None, work_dir: Path | None, spill: bool | None) -> Any:
    """Create an engine, and check that it takes all options set."""
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
        print_text("Running with a single MPI rank; for more, use: mpirun -n 4 semascope fit … --engine mpi")
    return engine


def with_spill(engine: Any, *, spill: bool) -> Any:
    """Return the engine with spilling on or off; Spark always spills."""
    return replace(engine, spill=spill) if hasattr(engine, "spill") else engine


AUTO = "auto"


def parse_list(names: str) -> list[str]:
    """Parse a comma-separated list."""
    return [name.strip() for name in names.split(",") if name.strip()]


def parse_text_fields(text: Sequence[str] | None, texts: str | None, languages: Sequence[str]) -> dict[str, Any]:
    """Return the text fields as arguments of `semascope.read`."""
    if texts is not None and text:
        message = (
            "--texts and --text are mutually exclusive: --texts names a field of texts by language, --text a field of text."
        )
        raise typer.BadParameter(message)
    if not languages or not text:
        by_object = bool(languages) or texts is not None
        return {"texts": texts, "languages": list(languages) or None} if by_object else {"text": list(text or ["text"])}
    pairs = [_pair("--text", one, languages) for one in text]
    fields = {language: [field for named, field in pairs if named == language] for language in languages}
    for language in languages:
        if not fields[language]:
            message = f"--text names no field for {language!r}; add one for each language, e.g. --text {language}=FIELD."
            raise typer.BadParameter(message)
    return {"text": fields}


def analyzers_for(languages: Sequence[str], stop_words: str | None, stemmer: str | None, settings: dict[str, Any]) -> Analyzers:
    """Create one analyzer, or one per language if stop words or stemmers differ by language."""
    from semascope.corpus.text.analyzer import Analyzer

    stopped = _parse_pairs("--stop-words", stop_words, languages, _stop_words)
    stemmed = _parse_pairs("--stemmer", stemmer, languages, _language)
    if not isinstance(stopped, dict) and not isinstance(stemmed, dict):
        return Analyzer(stop_words=stopped, stemmer=stemmed, **settings)

    def of(setting: Any, language: str) -> Any:
        return setting.get(language) if isinstance(setting, dict) else setting

    return {one: Analyzer(stop_words=of(stopped, one), stemmer=of(stemmed, one), **settings) for one in languages}


def _parse_pairs(option: str, value: str | None, languages: Sequence[str], parse: Callable[[str], Any]) -> Any:
    """Parse an option into one value, or a dictionary of values by language."""
    if value == AUTO and not languages:
        message = f"{option} auto requires --languages."
        raise typer.BadParameter(message)
    if value == AUTO:
        return {language: parse(language) for language in languages}
    if value is None or not languages or "=" not in value:
        return None if value is None else parse(value)
    pairs = [_pair(option, one, languages) for one in parse_list(value)]
    return {language: parse(setting) for language, setting in pairs}


def _pair(option: str, value: str, languages: Sequence[str]) -> tuple[str, str]:
    language, _, setting = value.partition("=")
    if language not in languages or not setting:
        message = f"{option} takes LANGUAGE=… with one of the languages {', '.join(languages)}, not {value!r}."
        raise typer.BadParameter(message)
    return language, setting


def _language(value: str) -> str:
    """Return the name of a language from its name or code."""
    from semascope.corpus.text.languages import name_of

    return name_of(value) or value


def _stop_words(value: str) -> str | list[str]:
    from semascope.corpus.text.languages import stop_word_languages

    if (name := _language(value)) in (languages := stop_word_languages()):
        return name
    path = Path(value)
    if not path.is_file():
        message = f"{value}: neither a file of stop words nor a language with built-in stop words ({', '.join(languages)})."
        raise InputError(message)
    try:
        return path.read_text(encoding="utf-8").split()
    except UnicodeDecodeError:
        message = f"{value}: the stop word file is not UTF-8; convert it first, e.g. with iconv."
        raise InputError(message) from None


def read_prior(files: list[str], strength: float | None, eta: float | str | None) -> Any:
    """Read word lists: one file for all languages, or ``en=FILE`` for each."""
    from semascope.models.priors.informed import InformedPrior

    if not files:
        message = "--prior-strength requires --prior."
        raise typer.BadParameter(message)
    if eta == "auto":
        message = "--eta auto cannot be combined with --prior: an informed prior is not learned."
        raise typer.BadParameter(message)
    chosen = {"strength": strength, "base": eta}
    settings: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    named = dict(_split_language(file) for file in files)
    if len(named) < len(files) or ("" in named and len(named) > 1):
        message = "--prior takes one file, or one per language: --prior en=FILE --prior de=FILE."
        raise typer.BadParameter(message)
    priors = {language: InformedPrior.from_file(path, **settings) for language, path in named.items()}
    return priors.get("", priors)


def _split_language(file: str) -> tuple[str, str]:
    """Split ``en=FILE`` into language and path; the language may be missing."""
    language, sign, path = file.partition("=")
    return (language, path) if sign and not Path(file).exists() else ("", file)


def select_languages(corpus: Corpus, codes: str | None) -> Corpus:
    """Select languages of a corpus; all by default."""
    if codes is None:
        return corpus
    selected = parse_list(codes)
    if not selected:
        message = f"--languages takes comma-separated codes, not {codes!r}."
        raise typer.BadParameter(message)
    return corpus.in_language(*selected)

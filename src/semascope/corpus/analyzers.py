"""One analyzer for all texts, or one for each language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from semascope.corpus.analyze import Analyzer
from semascope.corpus.lexicon import NAMELESS, said
from semascope.errors import FormatError, InputError
from semascope.storage import MANIFEST
from semascope.storage.facts import Maybe, Record

if TYPE_CHECKING:
    from semascope.storage import Directory

Analyzers = Analyzer | Mapping[str, Analyzer]

_BY_LANGUAGE = "by_language"
_ANALYZERS = Maybe(Record(optional={_BY_LANGUAGE: Record(others=Record())}))


def analyzer_of(analyzers: Analyzers, language: str) -> Analyzer:
    """Give the analyzer of a language, or say that there is none."""
    if isinstance(analyzers, Analyzer):
        return analyzers
    if language in analyzers:
        return analyzers[language]
    if language in NAMELESS:
        msg = f"there is an analyzer for each of {', '.join(analyzers)}, but it is not said which language the texts are in."
    else:
        msg = f"there is no analyzer for the language {language!r}; {said(tuple(analyzers))}."
    raise InputError(msg)


def analyzers_of(analyzers: Analyzers | None, languages: Sequence[str]) -> Analyzers | None:
    """Give what there is for some languages: one analyzer for one language."""
    if analyzers is None or isinstance(analyzers, Analyzer):
        return analyzers
    if len(languages) == 1:
        return analyzers.get(languages[0])
    return {language: analyzers[language] for language in languages if language in analyzers}


def for_vocabulary(analyzers: Analyzers | None) -> Analyzers:
    """The analyzers to count the words of a given vocabulary with: it is not pruned again."""
    if isinstance(analyzers, Mapping):
        return {language: _without_limits(analyzer) for language, analyzer in analyzers.items()}
    return _without_limits(analyzers or Analyzer())


def _without_limits(analyzer: Analyzer) -> Analyzer:
    return replace(analyzer, min_df=1, max_df=1.0, max_features=None)


def read_analyzers(directory: Directory) -> Analyzers | None:
    """Read the analyzers that the manifest of a corpus or a model states."""
    settings = directory.facts["analyzer"]
    problem = _ANALYZERS.problem(settings, "facts.analyzer")
    if problem is None:
        try:
            return from_settings(settings)
        except InputError as error:
            problem = f"facts.analyzer: {str(error).rstrip('.')}"
    msg = f"{directory.path / MANIFEST}: {problem}."
    raise FormatError(msg)


def to_settings(analyzers: Analyzers | None) -> dict[str, Any] | None:
    """Give analyzers as plain values, for a manifest."""
    if isinstance(analyzers, Mapping):
        return {_BY_LANGUAGE: {language: analyzer.to_dict() for language, analyzer in analyzers.items()}}
    return None if analyzers is None else analyzers.to_dict()


def from_settings(settings: dict[str, Any] | None) -> Analyzers | None:
    """Make analyzers of what `to_settings` gave.

    Examples
    --------
    >>> analyzers = {"en": Analyzer(stop_words="english"), "de": Analyzer(stop_words="german")}
    >>> from_settings(to_settings(analyzers)) == analyzers
    True
    """
    if settings is None:
        return None
    if _BY_LANGUAGE in settings:
        return {language: Analyzer.from_dict(own) for language, own in settings[_BY_LANGUAGE].items()}
    return Analyzer.from_dict(settings)

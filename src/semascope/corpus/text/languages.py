"""Language names, lists of stop words, and language identification."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl


EXCLUDED_LISTS = {"greek"}
"""Lists that do not fit modern texts: the Greek one is ancient Greek, with its accents."""


@cache
def stop_word_languages() -> tuple[str, ...]:
    """Return the languages that have both a Snowball stemmer and a list of stop words."""
    import Stemmer
    from stop_words import AVAILABLE_LANGUAGES

    return tuple(sorted(set(Stemmer.algorithms()) & set(AVAILABLE_LANGUAGES) - EXCLUDED_LISTS))


@cache
def stop_words_of(language: str) -> frozenset[str]:
    """Return the stop words of a language; the English ones are scikit-learn's.

    Examples
    --------
    >>> sorted(stop_words_of("italian") & {"dell", "dell'", "casa"})
    ['dell', "dell'"]
    """
    if language == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    from stop_words import get_stop_words

    return frozenset(seen for entry in get_stop_words(language) for seen in _possible_tokens(entry.lower()))


def _possible_tokens(entry: str) -> list[str]:
    """Return the tokens that an entry may appear as: itself, and the pieces that the default rule splits it into.

    The article of "dell'arte" becomes the token "dell", so the entry "dell'" must stop it; a pattern that keeps apostrophes
    yields it whole. Hindi vowel signs and Persian joiners are not letters to the rule either, so only pieces of such words
    ever occur. In these lists each piece is a stop word too ("dintr-un", "par-devant"), unlike in the English list
    ("won't"), which is not taken from here. Phrases are left out: no token is a phrase, and their words may carry meaning.
    """
    return [] if " " in entry else [entry, *re.findall(r"\w+", entry)]


UNKNOWN = "unknown"
SAMPLE = 2000
"""Documents sampled to identify the languages of a corpus."""
MAX_CHARACTERS = 2000
"""Characters of a text that are read: for a book, the beginning is enough."""
MIN_SCORE = 1.5
"""Minimum score: the weighted number of distinct stop words."""
MIN_SHARE = 0.06
"""Minimum score as a fraction of the distinct words; running text has several times as much."""
MIN_LEAD = 1.2
"""Minimum ratio of the best score to the second; below it, the result is a tie."""


NAMES = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "nb": "norwegian",
    "ne": "nepali", "nl": "dutch", "nn": "norwegian", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""ISO 639-1 codes and the language names used by stop-word lists and stemmers."""


def name_of(code: str) -> str | None:
    """Return the English name of a language from its code, ignoring the country; None for unknown codes.

    Examples
    --------
    >>> name_of("de"), name_of("pt-BR"), name_of("tlh")
    ('german', 'portuguese', None)
    """
    return NAMES.get(code.lower().replace("_", "-").split("-")[0])


def guess_language(text: str | Iterable[str]) -> str:
    """Infer the language of a text, or of lower-case words; "unknown" if there is too little evidence or a tie.

    Only languages with a list of stop words are considered. A word in several lists is shared equally among them. Distinct
    words are counted, not tokens: "vs" is French by the lists, and fills the tables of an English newspaper.

    Examples
    --------
    >>> guess_language("Der Hund und die Katze sind nicht im Haus.")
    'german'
    >>> guess_language("Lorem ipsum")
    'unknown'
    """
    words = set(re.findall(r"\w+", text[:MAX_CHARACTERS].lower()) if isinstance(text, str) else text)
    holders = _holders()
    scores: dict[str, float] = {UNKNOWN: 0.0}
    for word in words:
        for language in (languages := holders.get(word, ())):
            scores[language] = scores.get(language, 0.0) + 1 / len(languages)
    best, *others = sorted(scores, key=lambda language: -scores[language])
    needed = max(MIN_SCORE, MIN_SHARE * len(words), *(MIN_LEAD * scores[language] for language in others[:1]))
    return best if scores[best] >= needed else UNKNOWN


def language_shares(texts: Sequence[str] | pl.Series) -> dict[str, float]:
    """Return the fraction of the texts in each language, largest first, from an evenly spread sample."""
    chosen = np.unique(np.linspace(0, len(texts) - 1, min(SAMPLE, len(texts))).astype(int))
    guesses = Counter(guess_language(texts[int(number)]) for number in chosen)
    return {language: n / len(chosen) for language, n in guesses.most_common()}


@cache
def _holders() -> dict[str, list[str]]:
    """Return the languages of each stop word. Single letters are left out: initials and formulas are full of them."""
    holders: dict[str, list[str]] = {}
    for language in stop_word_languages():
        for word in stop_words_of(language):
            if len(word) > 1:
                holders.setdefault(word, []).append(language)
    return holders

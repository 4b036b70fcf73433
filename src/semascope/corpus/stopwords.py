"""Lists of stop words, by the English name of the language."""

from __future__ import annotations

import re
from functools import cache

NOT_OF_TODAY = {"greek"}
"""Lists of no use for texts of today: the Greek one is of ancient Greek, with its accents."""


@cache
def stop_word_languages() -> tuple[str, ...]:
    """Give the languages that have both a Snowball stemmer and a list of stop words."""
    import Stemmer
    from stop_words import AVAILABLE_LANGUAGES

    return tuple(sorted(set(Stemmer.algorithms()) & set(AVAILABLE_LANGUAGES) - NOT_OF_TODAY))


@cache
def stop_words_of(language: str) -> frozenset[str]:
    """Give the stop words of a language; the English ones are scikit-learn's.

    Examples
    --------
    >>> sorted(stop_words_of("italian") & {"dell", "dell'", "casa"})
    ['dell', "dell'"]
    """
    if language == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    from stop_words import get_stop_words

    return frozenset(seen for entry in get_stop_words(language) for seen in _as_seen(entry.lower()))


def _as_seen(entry: str) -> list[str]:
    """Give what a tokeniser may see of an entry: itself, and the pieces that the default rule cuts it into.

    The article of "dell'arte" comes as "dell", so the entry "dell'" must stop that; with a pattern that keeps apostrophes it
    comes whole. Vowel signs of Hindi and joints of Persian words are no letters to the rule either, so their pieces are all
    that is ever seen of such a word. In these lists each piece is a stop word too ("dintr-un", "par-devant"); it would not be
    so in the English list ("won't"), which is not taken from here. Phrases are left out: no word is ever a phrase, and
    theirs may well be words of meaning.
    """
    return [] if " " in entry else [entry, *re.findall(r"\w+", entry)]

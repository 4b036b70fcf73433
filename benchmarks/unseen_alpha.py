"""Is α = min(0.1, 5 / K) a better default than α = 0.1, on collections that had no say in it?

`lda_priors` compares rules α(K) on seven collections. The rule that came of it is judged here on others: BBC News, AG News,
speeches in four languages, CACM, TIME, and the chapters of an English bible, documents without text left out. 100, 300 and
1000 topics, as far as there are documents and words for them; CVB0, two seeds.

A model that is fitted to nine tenths of the documents is judged by the perplexity of the last one, by the model's own prior,
which judges α by its use as well, and by the common one of 0.1 per topic, which judges α by the topics it leads to. Another,
fitted to half of them, is judged by its topics alone: do the ten top words of each stand together in the documents of the other
half (NPMI; where a half has enough documents)? With α = 10 / K beside them, which leaves K = 100 as it is.

Takes about 20 minutes on two cores. With --quick one seed, 100 topics, and CACM and BBC News: less than one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from statistics import mean
from typing import Any

from benchmarks import data, harness
from semascope import LDA, Analyzer, Corpus

TOPICS = (100, 300, 1000)
BEFORE, RULE, MILDER = "0.1", "min(0.1, 5/K)", "min(0.1, 10/K)"
RULES: dict[str, Callable[[int], float]] = {
    BEFORE: lambda k: 0.1,
    RULE: lambda k: min(0.1, 5 / k),
    MILDER: lambda k: min(0.1, 10 / k),
}
SPEECHES = "fields/parliament"
STOP_WORDS = {"en": "english", "de": "german", "es": "spanish", "nl": "dutch"}
QUICK = (("ir/cacm", "en"), ("labelled/bbc_news", "en"))
COLLECTIONS = (
    *QUICK,
    ("labelled/agnews", "en"),
    *((SPEECHES, language) for language in STOP_WORDS),
    ("ir/time", "en"),
    ("poly/bible_chapters", "en"),
)
MEASURES = ("own", "common", "npmi")
WORSE = 0.01
"""A perplexity that is larger by more than this share is worse, of two seeds."""


def run(quick: bool) -> dict[str, Any]:
    """Fit by all rules, and compare."""
    return judge_all(QUICK if quick else COLLECTIONS, TOPICS[:1] if quick else TOPICS, range(1 if quick else 2))


def judge_all(collections: Sequence[tuple[str, str]], topics: Sequence[int], seeds: Sequence[int]) -> dict[str, Any]:
    """Do so with these numbers of topics and seeds."""
    judges = [Judge(name, language, seeds) for name, language in collections]
    found = {judge.title: {str(k): judge.by_rule(k) for k in topics if judge.allows(k)} for judge in judges}
    return {
        "seeds": len(seeds),
        "documents": {judge.title: judge.facts() for judge in judges},
        "found": found,
        "goals": [goal for k in topics for goal in goals(found, str(k))],
    }


class Judge:
    """A collection, and what models of it are worth."""

    def __init__(self, name: str, language: str, seeds: Sequence[int]) -> None:
        self.name, self.language, self.seeds = name, language, seeds
        self.title = f"{name}, {language}" if name == SPEECHES else name

    @cached_property
    def corpus(self) -> Corpus:
        """The documents that have a text."""
        analyzer = Analyzer(stop_words=STOP_WORDS[self.language], min_df=2, max_df=0.5)
        return Corpus.from_texts([text for text in self._texts() if text.strip()], analyzer=analyzer)

    def _texts(self) -> Iterator[str]:
        for record in data.records(self.name):
            if record.get("lang", self.language) == self.language:
                yield record.get("texts", {}).get(self.language) or record.get("text", "")

    @cached_property
    def tenth_out(self) -> tuple[Corpus, Corpus]:
        """Nine tenths to learn from, and one held out."""
        return self.corpus.split(0.1, seed=0)

    @cached_property
    def halves(self) -> tuple[Corpus, Corpus]:
        """A half to learn from, and one to look for words in."""
        return self.corpus.split(0.5, seed=0)

    def facts(self) -> dict[str, float]:
        return {
            "documents": self.corpus.n_documents,
            "words": self.corpus.n_words,
            "length": self.corpus.n_tokens / self.corpus.n_documents,
        }

    def allows(self, n_topics: int) -> bool:
        """Whether there are enough documents, and words, for so many topics."""
        return _allows(self.tenth_out[0], n_topics)

    def by_rule(self, n_topics: int) -> dict[str, dict[str, list[float]]]:
        """Judge a model of each rule and seed; rules that give the same α give the same models."""
        by_alpha: dict[float, dict[str, list[float]]] = {}
        for rule in RULES.values():
            if (alpha := rule(n_topics)) not in by_alpha:
                by_alpha[alpha] = self._judged(n_topics, alpha)
                means = {measure: round(mean(values), 3) for measure, values in by_alpha[alpha].items() if values}
                harness.console.print(f"{self.title}, K = {n_topics}, α = {alpha:.3g}: {means}")
        return {name: by_alpha[rule(n_topics)] for name, rule in RULES.items()}

    def _judged(self, n_topics: int, alpha: float) -> dict[str, list[float]]:
        found: dict[str, list[float]] = {measure: [] for measure in MEASURES}
        (train, test), (half, other) = self.tenth_out, self.halves
        for seed in self.seeds:
            model = LDA(n_topics, alpha=alpha, random_state=seed).fit(train)
            for prior in ("own", "common"):
                found[prior].append(model.perplexity(test, prior=prior))
            if _allows(half, n_topics):
                topics = LDA(n_topics, alpha=alpha, random_state=seed).fit(half)
                found["npmi"].append(float(topics.coherence(other).mean()))
        return found


def _allows(train: Corpus, n_topics: int) -> bool:
    return n_topics <= min(train.n_documents, train.n_words)


# --- ratios and tables -------------------------------------------------------------------------------------------------------


def ratio(of_rules: Mapping[str, Mapping[str, Sequence[float]]], rule: str, measure: str) -> float:
    """Return a mean perplexity over that with α = 0.1."""
    return mean(of_rules[rule][measure]) / mean(of_rules[BEFORE][measure])


def gain(of_rules: Mapping[str, Mapping[str, Sequence[float]]], rule: str) -> float:
    """Return by how much the mean NPMI is above that with α = 0.1; not a number where nobody knows."""
    gains = [new - old for new, old in zip(of_rules[rule]["npmi"], of_rules[BEFORE]["npmi"], strict=True)]
    return mean(gains) if gains else math.nan


def goals(found: Mapping[str, Mapping[str, Any]], k: str) -> list[dict[str, Any]]:
    """Compare the rule with α = 0.1 over the collections that allow so many topics."""
    cells = [of_topics[k] for of_topics in found.values() if k in of_topics]
    if not cells:
        return []
    result = []
    for measure in ("own", "common"):
        ratios = [ratio(cell, RULE, measure) for cell in cells]
        middle, worst = math.exp(mean(map(math.log, ratios))), max(ratios)
        result.append(harness.goal(f"K = {k}, {measure} prior: {RULE} / {BEFORE}, mean", middle, at_most=1.0))
        result.append(harness.goal(f"K = {k}, {measure} prior: {RULE} / {BEFORE}, largest", worst, at_most=1 + WORSE))
    gains = [gain(cell, RULE) for cell in cells if cell[RULE]["npmi"]]
    return [*result, *([harness.goal(f"K = {k}, NPMI gained, mean", mean(gains), at_least=0.0)] if gains else [])]


def show(result: Mapping[str, Any]) -> None:
    """Print the goals, and a table for each number of topics."""
    harness.show_goals(result["goals"])
    found = result["found"]
    for k in dict.fromkeys(k for of_topics in found.values() for k in of_topics):
        rows = [_row(name, result["documents"][name], of_topics[k]) for name, of_topics in found.items() if k in of_topics]
        columns = ("collection", "documents", "words each", f"α = {BEFORE}", *(rule for rule in RULES if rule != BEFORE))
        title = f"K = {k}: perplexity by own / common prior, NPMI; ratios to α = {BEFORE}, NPMI gained; {result['seeds']} seeds"
        harness.show(title, columns, rows)


def _row(name: str, facts: Mapping[str, float], of_rules: Mapping[str, Any]) -> list[str]:
    own, common, npmi = (mean(of_rules[BEFORE][measure] or [math.nan]) for measure in MEASURES)
    cells = [
        f"{ratio(of_rules, rule, 'own'):.3f} / {ratio(of_rules, rule, 'common'):.3f}, {gain(of_rules, rule):+.3f}"
        for rule in RULES
        if rule != BEFORE
    ]
    return [name, f"{facts['documents']:,}", f"{facts['length']:.0f}", f"{own:,.0f} / {common:,.0f}, {npmi:.3f}", *cells]


if __name__ == "__main__":
    harness.alone("unseen_alpha", run, show)

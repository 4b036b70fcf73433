"""Every model of the package, a row for each: what it is, how it is fitted, and what can be done with it.

Commands, the explorer, search and loading ask here, by the name that a directory has in its manifest, or ask a fitted model
for its `kind`; none of them knows a class. Nothing heavy is imported before a model is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

TOPICS, LABELS, DIMENSIONS = "topics", "labels", "dimensions"


class Kind(NamedTuple):
    """What all models of a kind have in common.

    name        what `kind` of their classes is: the plural of what they consist of
    component   the singular
    show        the command that shows a model
    apply       the command that applies it to something else, and what that is called
    evaluate    whether `semascope evaluate` measures it
    explore     whether the explorer and reports show it
    preview     layout of what the explorer reads before the class is imported, in `semascope.models.layouts`; none if it waits
    vectors     what an index calls its vectors of documents; none where search does not use it
    """

    name: str
    component: str
    show: str
    apply: tuple[str, str]
    evaluate: bool
    explore: bool
    preview: str | None
    vectors: str | None


KINDS = {
    kind.name: kind
    for kind in (
        Kind(TOPICS, "topic", "topics", ("infer", "SOURCE"), True, True, "topic_layout", "topics"),
        Kind(LABELS, "label", "topics", ("predict", "SOURCE"), True, True, None, None),
        Kind(DIMENSIONS, "dimension", "info", ("neighbors", "WORD"), False, False, None, "space"),
    )
}


@dataclass(frozen=True)
class ModelEntry:
    """A model of the package.

    name              of the class, and in manifests
    module            where the class is
    kind              "topics", "labels" or "dimensions": see `KINDS`
    layouts           functions of `semascope.models.layouts` that declare its files
    command           what `semascope fit --model` calls it; None if it is not fitted by that
    options           options of `semascope fit` that it takes, beside those that all models take
    defaults          of options where they are not those of most models, as help shows them
    several_languages whether it is fitted, among models with the same command, to corpora in several languages
    streams           whether `semascope stream` and `semascope explore --learn` have it learn, document by document
    title             what sentences call it, where that is not its name
    """

    name: str
    module: str
    kind: str
    layouts: Sequence[str]
    command: str | None = None
    options: Sequence[str] = ()
    defaults: Mapping[str, str] = field(default_factory=dict)
    several_languages: bool = False
    streams: bool = False
    title: str = ""

    @property
    def traits(self) -> Kind:
        """What it has in common with all models of its kind."""
        return KINDS[self.kind]

    @property
    def is_swept(self) -> bool:
        """Whether `semascope sweep` tries numbers of components: some models have as many as there are labels."""
        return "topics" in self.options

    def load_class(self) -> type[Any]:
        """Import the class."""
        return getattr(import_module(self.module), self.name)  # type: ignore[no-any-return]


_OF_LDA = (
    "topics", "inference", "alpha", "alpha-init", "eta", "max-doc-update-iter", "doc-tol", "prior", "prior-strength",
    "languages", "watch-heldout",
)  # fmt: skip

ENTRIES = (
    ModelEntry(
        "PLSA", "semascope.models.plsa", TOPICS, ["topic_layout"], "plsa", ("topics", "tempering", "watch-heldout")
    ),
    ModelEntry("LDA", "semascope.models.lda", TOPICS, ["topic_layout"], "lda", _OF_LDA),
    ModelEntry(
        "PolylingualLDA", "semascope.models.polylingual_lda", TOPICS, ["topic_layout"], "lda", _OF_LDA, several_languages=True
    ),
    ModelEntry(
        "LSA", "semascope.models.lsa", DIMENSIONS, ["space_layout"], "lsa", ("topics", "weighting"),
        {"max-iter": "20", "tol": "0.0015"},
    ),
    ModelEntry(
        "LabeledLDA", "semascope.models.labeled_lda", LABELS, ["label_layout"], "labeled", ("alpha", "eta", "background"),
        {"topics": "its labels", "max-iter": "200", "tol": "never", "eta": "0.1"}, title="labeled",
    ),
    ModelEntry(
        "CorrelatedTopicModel", "semascope.models.ctm", TOPICS, ["topic_layout"], "ctm", ("topics", "eta", "watch-heldout"),
        title="CTM",
    ),
    ModelEntry("OnlineLabeledLDA", "semascope.models.online_labeled_lda", LABELS, ["online_label_layout"], streams=True),
)  # fmt: skip
"""The models, those that are fitted most first. A new one adds a row."""


def entries() -> dict[str, ModelEntry]:
    """Return the models by the names of their classes."""
    return {entry.name: entry for entry in ENTRIES}


def entry_of(model: Any) -> ModelEntry | None:
    """Return the row of a fitted model; None for a class that is not of the package."""
    known = entries()
    return next((known[above.__name__] for above in type(model).__mro__ if above.__name__ in known), None)


def names_where(**traits: Any) -> list[str]:
    """Return the names of the models that have these attributes, or have them in common with their kind.

    Examples
    --------
    >>> names_where(streams=True)
    ['OnlineLabeledLDA']
    """
    return [
        entry.name
        for entry in ENTRIES
        if all(getattr(entry if hasattr(entry, name) else entry.traits, name) == value for name, value in traits.items())
    ]


def commands(*, swept: bool = False) -> list[str]:
    """Return what `semascope fit --model` takes, or `semascope sweep --model`.

    Examples
    --------
    >>> commands()[:3]
    ['plsa', 'lda', 'lsa']
    """
    return list(dict.fromkeys(entry.command for entry in ENTRIES if entry.command and (entry.is_swept or not swept)))


def entry_for(command: str, *, n_languages: int = 1) -> ModelEntry:
    """Return the model that a command fits to a corpus of so many languages.

    Examples
    --------
    >>> entry_for("lda").name, entry_for("lda", n_languages=2).name, entry_for("plsa", n_languages=2).name
    ('LDA', 'PolylingualLDA', 'PLSA')
    """
    having = [entry for entry in ENTRIES if entry.command == command]
    return next((entry for entry in having if entry.several_languages == (n_languages > 1)), having[0])


def taking(option: str) -> list[str]:
    """Return the commands of the models that take an option.

    Examples
    --------
    >>> taking("tempering")
    ['plsa']
    """
    return [command for command in commands() if option in entry_for(command).options]


def in_words(command: str) -> str:
    """Return what sentences call a model: "LDA", but "labeled"."""
    entry = entry_for(command)
    return entry.title or entry.name


def help_for(option: str, text: str) -> str:
    """Return what help says of an option that not all models take."""
    return f"{', '.join(map(in_words, taking(option)))}: {text}"


def defaults_of(option: str, usual: str) -> str:
    """Return what help shows as the defaults of an option.

    Examples
    --------
    >>> defaults_of("max-iter", "100")
    '100; LSA: 20; labeled: 200'
    """
    of_some = {command: entry_for(command).defaults.get(option) for command in commands()}
    return "; ".join([usual, *(f"{in_words(command)}: {default}" for command, default in of_some.items() if default)])

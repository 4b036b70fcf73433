"""Registry of the models: one row each, with its kind, CLI options and capabilities.

The CLI, the explorer, search and loading look up models here, by the class name in the manifest or by the `kind` of a fitted
model; none of them refers to a class. Model classes are imported on demand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

TOPICS, LABELS, DIMENSIONS = "topics", "labels", "dimensions"


class Kind(NamedTuple):
    """Traits common to all models of a kind.

    name        value of the class attribute `kind`: the plural of the components
    component   the singular
    show        command that shows a model
    apply       command that applies a model, and its argument
    evaluate    whether `semascope evaluate` supports it
    explore     whether the explorer and reports support it
    preview     layout in `semascope.models.layouts` that the explorer reads before it imports the class, if any
    vectors     name of its document vectors in an index, if search uses them
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
    """Registry entry of a model.

    name              class name, also in manifests
    module            module of the class
    kind              key of `KINDS`: "topics", "labels" or "dimensions"
    layouts           functions of `semascope.models.layouts` that declare its files
    command           value of `semascope fit --model`; None if the command does not fit it
    options           options of `semascope fit` besides those of all models
    defaults          defaults of options that differ from most models, as shown by help
    several_languages whether it is the choice, among models with the same command, for corpora in several languages
    streams           whether `semascope stream` and `semascope explore --learn` support it
    title             display name, if not the class name
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
        """Traits of the kind of the model."""
        return KINDS[self.kind]

    @property
    def is_swept(self) -> bool:
        """Whether `semascope sweep` supports it; label models have no number of topics to choose."""
        return "topics" in self.options

    def load_class(self) -> type[Any]:
        """Import and return the class."""
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
"""All models, most common first. Add a row to register a model."""


def entries() -> dict[str, ModelEntry]:
    """Return the entries by class name."""
    return {entry.name: entry for entry in ENTRIES}


def entry_of(model: Any) -> ModelEntry | None:
    """Return the entry of a fitted model, or None for a class from elsewhere."""
    known = entries()
    return next((known[above.__name__] for above in type(model).__mro__ if above.__name__ in known), None)


def names_where(**traits: Any) -> list[str]:
    """Return the names of the models with these values of entry or kind attributes.

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
    """Return the choices of `semascope fit --model`, or `semascope sweep --model`.

    Examples
    --------
    >>> commands()[:3]
    ['plsa', 'lda', 'lsa']
    """
    return list(dict.fromkeys(entry.command for entry in ENTRIES if entry.command and (entry.is_swept or not swept)))


def entry_for(command: str, *, n_languages: int = 1) -> ModelEntry:
    """Return the model that a command fits to a corpus in n languages.

    Examples
    --------
    >>> entry_for("lda").name, entry_for("lda", n_languages=2).name, entry_for("plsa", n_languages=2).name
    ('LDA', 'PolylingualLDA', 'PLSA')
    """
    having = [entry for entry in ENTRIES if entry.command == command]
    return next((entry for entry in having if entry.several_languages == (n_languages > 1)), having[0])


def taking(option: str) -> list[str]:
    """Return the commands of the models that accept an option.

    Examples
    --------
    >>> taking("tempering")
    ['plsa']
    """
    return [command for command in commands() if option in entry_for(command).options]


def in_words(command: str) -> str:
    """Return the display name of a model: its title or class name."""
    entry = entry_for(command)
    return entry.title or entry.name


def help_for(option: str, text: str) -> str:
    """Format the help text of an option that only some models accept."""
    return f"{', '.join(map(in_words, taking(option)))}: {text}"


def defaults_of(option: str, usual: str) -> str:
    """Format the defaults of an option for help.

    Examples
    --------
    >>> defaults_of("max-iter", "100")
    '100; LSA: 20; labeled: 200'
    """
    of_some = {command: entry_for(command).defaults.get(option) for command in commands()}
    return "; ".join([usual, *(f"{in_words(command)}: {default}" for command, default in of_some.items() if default)])

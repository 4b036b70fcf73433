"""Cases: which file of which directory is mutated how. A case has a name, from which it can be made again."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attacks import arrays, fixtures, manifests, sealing, sources, tables

SEPARATOR = " | "
NOTHING = "nothing"
"""The mutation that leaves everything as it is: whatever is done must succeed then, and be equal to the twins."""

API = "api"
SHARES = {"arrays": 0.6, "tables": 0.12, "manifests": 0.28}
"""Of the cases that attack directories."""


@dataclass(frozen=True)
class Case:
    """One mutation.

    fixture   directory that is attacked, or "source"
    part      "." or a part of an index: "segments.0", "models.1"
    file      that is mutated
    mutation  its name
    seed      decides places and bits
    by        "api", or the command that is given the directory
    home      where fixtures and sources lie
    """

    fixture: str
    part: str
    file: str
    mutation: str
    seed: int
    by: str
    home: str

    @property
    def name(self) -> str:
        """What it is made again from."""
        return SEPARATOR.join((self.fixture, self.part, self.file, self.mutation, str(self.seed), self.by))

    @classmethod
    def of(cls, name: str, home: Path) -> Case:
        """Make the case of a name."""
        fixture, part, file, mutation, seed, by = name.split(SEPARATOR)
        return cls(fixture, part, file, mutation, int(seed), by, str(home))

    @property
    def format(self) -> str:
        """What is attacked: corpus, model, index, checkpoint, stream or source."""
        return fixtures.kind_of(self.fixture)

    @property
    def field(self) -> str:
        """The file, or the key of the manifest."""
        if self.file == sealing.MANIFEST:
            return f"{sealing.MANIFEST}: {self.mutation.rpartition(' = ')[0] or 'whole'}"
        return self.file

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def prepare(home: Path) -> Path:
    """Make all directories and sources that are attacked."""
    fixtures.make_all(home)
    sources.write_all(home / "sources")
    return home


# --- what there is to attack -----------------------------------------------------------------------------------------------


Field = tuple[tuple[str, str, str], list[str]]
"""Fixture, part and file; and the mutations that make sense of it."""


def directories(home: Path) -> Iterator[tuple[str, str, Path]]:
    """Walk all directories with a manifest: fixture, part and path."""
    for fixture in fixtures.MAKERS:
        top = home / fixture / "model" if fixtures.kind_of(fixture) == "stream" else home / fixture
        for part, path in sealing.parts_of(top).items():
            yield fixture, part, path


def fields(home: Path) -> dict[str, list[Field]]:
    """Find every array, table and key of a manifest that is on disk, with its mutations."""
    found: dict[str, list[Field]] = {group: [] for group in SHARES}
    for fixture, part, path in directories(home):
        for file in sorted(sealing.data_folder(path).iterdir()):
            if file.suffix == ".npy":
                found["arrays"].append(((fixture, part, file.name), arrays.names_for(np.load(file))))
            else:
                found["tables"].append(((fixture, part, file.name), list(tables.ALL)))
        by_key: dict[str, list[str]] = {}
        for name in manifests.names_for(path):
            key = name.rpartition(" = ")[0]
            by_key.setdefault("files" if key.startswith("files/") else key, []).append(name)
        found["manifests"] += [((fixture, part, sealing.MANIFEST), names) for names in by_key.values()]
    return found


def _spread(found: Sequence[Field], n: int, chance: random.Random, home: Path) -> list[Case]:
    """Choose cases: of every field one in turn, each time by another mutation."""
    order = [(place, chance.sample(names, len(names))) for place, names in chance.sample(list(found), len(found))]
    rounds = islice(cycle(order), n)
    made = [
        Case(*place, names[(number // len(order)) % len(names)], number, API, str(home))
        for number, (place, names) in enumerate(rounds)
    ]
    chance.shuffle(made)
    return made


def on_directories(home: Path, n: int, seed: int = 0) -> list[Case]:
    """Spread so many cases over all directories, fields and mutations."""
    chance, found = random.Random(seed), fields(home)
    made = [case for group, share in SHARES.items() for case in _spread(found[group], round(n * share), chance, home)]
    chance.shuffle(made)
    return made


def on_sources(home: Path, n: int, seed: int = 0) -> list[Case]:
    """Spread so many cases over the formats of sources."""
    found = [(("source", ".", name), list(sources.MUTATIONS)) for name in sources.SOURCES]
    return _spread(found, n, random.Random(seed), home)


def on_journals(home: Path, n: int, seed: int = 0) -> list[Case]:
    """Spread so many cases over what a journal may hold."""
    return _spread([(("stream-journal", ".", sources.JOURNAL), list(sources.JOURNALS))], n, random.Random(seed), home)


COMMANDS = {
    "corpus": ("info", "fit"),
    "model": ("info", "topics", "infer", "evaluate", "report"),
    "model-labeled": ("info", "topics", "predict", "attribute", "evaluate", "report"),
    "model-online": ("info", "topics", "predict", "attribute", "evaluate", "report"),
    **dict.fromkeys(("model-polylingual", "model-matrix", "model-labeled-matrix"), ("info", "topics")),
    **dict.fromkeys(("model-lsa", "model-logtfidf"), ("info", "neighbors")),
    "index": ("info", "search", "index-add"),
    "index-languages": ("info", "search"),
    "checkpoint": ("info",),
    "checkpoint-cvb0": ("info", "fit"),
    "stream": ("stream",),
}
"""Commands that are given a directory, by its name or by its kind."""


def commands_for(fixture: str) -> tuple[str, ...]:
    """List the commands that a directory can be given to."""
    return COMMANDS.get(fixture) or COMMANDS[fixtures.kind_of(fixture)]


def by_command(home: Path, n: int, seed: int = 0) -> list[Case]:
    """Spread so many cases over directories and the commands that take them."""
    made = []
    for number, case in enumerate(on_directories(home, n, seed + 1)):
        names = commands_for(case.fixture)
        made.append(replace(case, by=names[number % len(names)]))
    return made


def controls(home: Path) -> list[Case]:
    """Return the cases in which nothing is mutated."""
    made = [Case(fixture, ".", "-", NOTHING, 0, API, str(home)) for fixture in fixtures.MAKERS]
    for fixture in fixtures.MAKERS:
        made += [Case(fixture, ".", "-", NOTHING, 0, name, str(home)) for name in commands_for(fixture)]
    return made + [Case("source", ".", name, NOTHING, 0, API, str(home)) for name in sources.SOURCES]


# --- doing it --------------------------------------------------------------------------------------------------------------


def mutated(case: Case, folder: Path) -> Path:
    """Copy what a case attacks into a folder, mutate and seal it; give its path."""
    rng, home = np.random.default_rng(case.seed), Path(case.home)
    if case.format == "source":
        return _mutated_source(case, folder, rng)
    streams = case.format == "stream"
    top = sealing.copied(home / case.fixture, folder / "directory", linked=not streams)
    if case.mutation == NOTHING:
        return top
    if case.file == sources.JOURNAL:
        path = top / "model.stream" / case.file
        path.write_bytes(sources.JOURNALS[case.mutation](path.read_bytes(), rng))
        return top
    directory = sealing.parts_of(top / "model" if streams else top)[case.part]
    if case.file == sealing.MANIFEST:
        manifests.mutate(directory, case.mutation, rng, directory.parent / "outside")
        return top
    path = sealing.data_folder(directory) / case.file
    content = path.read_bytes()
    if path.suffix == ".arrow":
        sealing.replace_file(directory, case.file, tables.ALL[case.mutation](content, rng))
    else:
        others = [other for other in sorted(path.parent.glob("*.npy")) if other != path]
        dimensions = arrays.dimensions_of(sealing.arrays_of(directory))
        target = arrays.Target(content, others, dimensions, folder / arrays.BOMB)
        sealing.replace_file(directory, case.file, arrays.ALL[case.mutation](target, rng))
    return top


def _mutated_source(case: Case, folder: Path, rng: np.random.Generator) -> Path:
    home = Path(case.home) / "sources"
    (folder / "vocab.small.txt").write_bytes((home / "vocab.small.txt").read_bytes())
    content = (home / case.file).read_bytes()
    path = folder / case.file
    path.write_bytes(content if case.mutation == NOTHING else sources.MUTATIONS[case.mutation](content, rng))
    return path

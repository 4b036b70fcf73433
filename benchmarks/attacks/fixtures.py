"""What is attacked: a directory of every kind, made by the public names of the package from a few made-up documents."""

from __future__ import annotations

import json
import random
import struct
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import semascope as ss

N_DOCUMENTS = 48
LABELS = ("cats", "dogs", "birds", "stones")
TOPICS = 3
QUERY = "w0x1 w1x2 w0x3 w2x0"
NEW_TEXTS = ("w0x1 w0x2 w0x2 w1x3", "w3x1 w3x4 w2x2 unknown", "w1x1 w1x5 w0x0 w2x7 w3x3")
MAGIC = b"semascope journal 1\n"

Maker = Callable[[Path, Path], None]
"""Makes a directory at the first path; the second has those that were made before."""


def records(n_documents: int = N_DOCUMENTS, seed: int = 0) -> list[dict[str, Any]]:
    """Make documents whose words are those of their labels by name."""
    chance, made = random.Random(seed), []
    for number in range(n_documents):
        mine = chance.sample(range(len(LABELS)), chance.randint(1, 2))
        words = [f"w{chance.choice(mine)}x{chance.randrange(9)}" for _ in range(chance.randint(6, 14))]
        made.append(
            {
                "id": f"d{number}",
                "text": " ".join(words),
                "labels": [LABELS[one] for one in mine],
                "title": f"Title {number}",
                "date": f"20{number % 20:02d}-01-02",
            }
        )
    return made


def bilingual() -> list[dict[str, Any]]:
    """Make documents in two languages, of which some lack one."""
    both = []
    for number, record in enumerate(records()):
        texts = {"en": record["text"], "de": record["text"].replace("w", "v")}
        if number % 5 == 0:
            del texts["de" if number % 2 else "en"]
        both.append(texts)
    return both


def counts() -> Any:
    """Make a matrix without words."""
    return np.random.default_rng(0).poisson(0.7, (20, 15)).astype(np.float64)


def _texts() -> list[str]:
    return [record["text"] for record in records()]


def _labels() -> list[list[str]]:
    return [record["labels"] for record in records()]


def labeled_corpus() -> ss.Corpus:
    """Make the corpus that most models are fitted to, with texts, labels, titles and dates."""
    import polars as pl

    return ss.Corpus.build(ss.read(pl.DataFrame(records())))


def _saved(make: Callable[[], Any]) -> Maker:
    return lambda path, home: make().save(path)


def _lda(**settings: Any) -> ss.LDA:
    return ss.LDA(TOPICS, max_iter=6, random_state=0, **settings)


def _given_priors() -> ss.LDA:
    corpus = labeled_corpus()
    eta = np.full((TOPICS, corpus.n_words), 0.03)
    eta[0, :5] = 2.0
    return _lda(alpha=np.array([0.1, 0.2, 0.3]), eta=eta).fit(corpus)


def _streamed() -> ss.LDA:
    model = _lda(batch_size=16)
    for first in range(0, N_DOCUMENTS, 16):
        model.partial_fit(labeled_corpus().filter(list(range(first, first + 16))))
    return model


def _online(**settings: Any) -> ss.OnlineLabeledLDA:
    return ss.OnlineLabeledLDA(4, n_initial=8, memory=300, random_state=0, **settings)


def _index(path: Path, home: Path) -> None:
    corpus = labeled_corpus()
    model = _lda().fit(corpus)
    index = ss.Index.build(corpus, model, path=path, n_dimensions=6)
    index.add(list(NEW_TEXTS), ids=["new0", "new1", "new2"])
    index.delete(["d3", "d17", "new1"])


def _plain_index(path: Path, home: Path) -> None:
    ss.Index.build(ss.Corpus.from_texts(bilingual()), path=path, n_dimensions=4)


CHECKPOINTED: dict[str, Callable[[int], Any]] = {
    "plsa": lambda n: ss.PLSA(TOPICS, max_iter=n, tol=0, random_state=0, dtype="float64"),
    "tempered": lambda n: ss.PLSA(TOPICS, max_iter=n, tol=0, random_state=0, tempering=0.9),
    "cvb0": lambda n: ss.LDA(TOPICS, max_iter=n, tol=0, random_state=0),
    "cvb0-learned": lambda n: ss.LDA(TOPICS, max_iter=n, tol=0, random_state=0, alpha="auto", eta="auto"),
    "vb": lambda n: ss.LDA(TOPICS, max_iter=n, tol=0, random_state=0, inference="vb"),
    "lsa": lambda n: ss.LSA(TOPICS, max_iter=n, tol=0, random_state=0),
    "labeled": lambda n: ss.LabeledLDA(max_iter=n, burn_in=2, random_state=0),
}
"""Fits of so many iterations that leave a checkpoint behind."""

FEW, MORE = 3, 4
"""Iterations before a checkpoint is attacked, and where the resumed fit ends."""


def _checkpoint(name: str) -> Maker:
    def make(path: Path, home: Path) -> None:
        corpus = ss.Corpus.open(home / "corpus-labels")
        CHECKPOINTED[name](FEW).fit(corpus, checkpoints=ss.Checkpoints(path, seconds=0))

    return make


def _stream(path: Path, home: Path) -> None:
    """Leave a model behind, and beside it the journal of a run that was killed."""
    path.mkdir()
    model = _online().partial_fit(_texts()[:20], _labels()[:20])
    model.stream_ = {"record": 0, "lines": 0, "bad": 0, "bad_bytes": 0, "positions": {}}
    model.save(path / "model")
    folder = path / "model.stream"
    folder.mkdir()
    packed = [journal_record(number + 1, _batch(number)) for number in range(3)]
    (folder / "journal-000000001").write_bytes(MAGIC + b"".join(packed))


def _batch(number: int) -> list[bytes]:
    lines = [json.dumps(record).encode() for record in records(30, seed=5)[number * 4 : number * 4 + 4]]
    last = number * 4 + 4
    said = {"source": "-", "line": last, "position": {"line": last, "crc": 0}, "fields": FIELDS}
    return [json.dumps(said).encode(), *lines]


FIELDS = {"text": ["text"], "labels": "labels", "id": "id", "label_separator": None}
"""What the journal says of the fields of lines."""


def journal_record(number: int, parts: Sequence[bytes]) -> bytes:
    """Pack a record of a journal, each part with its length."""
    return sealed_body(number, b"".join(struct.pack("<I", len(part)) + part for part in parts))


def sealed_body(number: int, body: bytes) -> bytes:
    """Put the header of a record before its body: length, checksum and number."""
    checksum = zlib.crc32(body, zlib.crc32((number % 2**64).to_bytes(8, "little")))
    return struct.pack("<IIQ", len(body), checksum, number % 2**64) + body


MAKERS: dict[str, Maker] = {
    "corpus-labels": lambda path, home: labeled_corpus().save(path),
    "corpus-languages": lambda path, home: ss.Corpus.from_texts(bilingual()).save(path),
    "model-lda": _saved(lambda: _lda().fit(labeled_corpus())),
    "model-vb": _saved(lambda: _lda(inference="vb").fit(labeled_corpus())),
    "model-priors": _saved(_given_priors),
    "model-streamed": _saved(_streamed),
    "model-polylingual": _saved(lambda: ss.PolylingualLDA(TOPICS, max_iter=6, random_state=0).fit(bilingual())),
    "model-plsa": _saved(lambda: ss.PLSA(TOPICS, max_iter=6, random_state=0).fit(labeled_corpus())),
    "model-tempered": _saved(lambda: ss.PLSA(TOPICS, max_iter=6, random_state=0, tempering=0.8).fit(labeled_corpus())),
    "model-lsa": _saved(lambda: ss.LSA(TOPICS, random_state=0).fit(labeled_corpus())),
    "model-logtfidf": _saved(lambda: ss.LSA(TOPICS, weighting="logtfidf", random_state=0).fit(labeled_corpus())),
    "model-labeled": _saved(lambda: ss.LabeledLDA(max_iter=6, background=1, random_state=0).fit(labeled_corpus())),
    "model-online": _saved(lambda: _online().partial_fit(_texts(), _labels())),
    "model-matrix": _saved(lambda: ss.PLSA(TOPICS, max_iter=6, random_state=0).fit(counts())),
    "model-labeled-matrix": _saved(lambda: ss.LabeledLDA(max_iter=6, random_state=0).fit(counts(), [["a"], ["b"]] * 10)),
    "index-topics": _index,
    "index-languages": _plain_index,
    **{f"checkpoint-{name}": _checkpoint(name) for name in CHECKPOINTED},
    "stream-journal": _stream,
}
"""Every directory, by the name that begins with its kind."""


def make_all(home: Path) -> Path:
    """Make those directories that are not there yet."""
    home.mkdir(parents=True, exist_ok=True)
    for name, make in MAKERS.items():
        if not (home / name).exists():
            make(home / name, home)
    return home


def kind_of(fixture: str) -> str:
    """Return the kind of a directory from its name."""
    return fixture.partition("-")[0]

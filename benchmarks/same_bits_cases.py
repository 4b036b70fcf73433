"""What `same_bits` has a semascope do: every estimator and combination of options that is important, by public names alone.

A case is a function that returns what it came to, as a mapping from names to values.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.io
import scipy.sparse as sp

import semascope as ss
from benchmarks import data

Case = Callable[[], Mapping[str, Any]]
Cases = dict[str, Case]

ATTRIBUTES = (
    "components_", "doc_topics_", "topic_shares_", "alpha_", "eta_", "topic_sizes_", "log_likelihood_", "elbo_", "n_iter_",
    "n_documents_seen_", "tempering_", "tempering_path_", "singular_values_", "doc_vectors_", "residuals_", "document_shares_",
    "word_shares_", "topic_names_", "label_names_", "label_shares_", "label_documents_", "last_log_likelihood_", "last_tokens_",
    "languages_", "vocabulary_", "heldout_path_", "hellinger_distance_", "clipped_mass_",
)  # fmt: skip
"""Public attributes of fitted models; those that a model has not are passed over. Why a fit ended is not among them: that is
a word, and may become another one."""
LISTS = {"first": ["river", "sto*"], "second": ["engine", "wheel", "motor*"]}
LISTS_IN_GERMAN = {"first": ["deriver"], "third": ["dewheel"]}
SIMILARITIES = (
    "bm25", "cosine", "lsa", "kl", "kl-published", "lda", "fisher", "fisher-iid-dfim", "fisher-hofmann-dfim-z", "fisher-iid-w",
    "hybrid",
)  # fmt: skip
STEMS = ("river", "stone", "engine", "wheel", "motor", "garden", "music", "signal", "market", "paper", "cloud", "letter")
ENDINGS = ("", "s", "ing", "ed", "ly", "ness", "er", "ish")
STOP_WORDS = ("the", "and", "of", "is", "to")
MED = "ir/med"


# --- data --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Material:
    """Documents that are made up: from one seed, the same everywhere.

    folder  where cases may write
    """

    folder: Path

    def draw(self, n_documents: int, length: int, seed: int, n_topics: int = 8) -> tuple[list[str], list[list[str]]]:
        """Texts with a few topics each, and labels, which name their topics; some are empty or without labels."""
        chance = np.random.default_rng(seed)
        words = np.array(
            [stem + str(number) * (number > 0) + ending for number in range(8) for stem in STEMS for ending in ENDINGS]
        )
        topics = np.random.default_rng(0).dirichlet(np.full(len(words), 0.05), n_topics)
        texts, labels = [], []
        for mixture in chance.dirichlet(np.full(n_topics, 0.2), n_documents):
            n = int(chance.poisson(length)) if chance.random() > 0.02 else 0
            drawn = chance.choice(words, n, p=mixture @ topics)
            with_stop_words = [word for one in drawn for word in (chance.choice(STOP_WORDS), one)[chance.random() > 0.2 :]]
            texts.append(" ".join(with_stop_words).capitalize() + ".")
            labels.append([f"topic {number}" for number in np.flatnonzero(mixture > 0.25)] if chance.random() > 0.1 else [])
        return texts, labels

    @cached_property
    def drawn(self) -> tuple[list[str], list[list[str]]]:
        return self.draw(400, 60, 1)

    @cached_property
    def corpus(self) -> ss.Corpus:
        """Several shards of work."""
        texts, labels = self.drawn
        return ss.Corpus.from_texts(texts, labels=labels, analyzer=ss.Analyzer(stop_words="english"))

    @cached_property
    def new(self) -> ss.Corpus:
        """New documents, with words that models do not know."""
        texts, labels = self.draw(60, 40, 2)
        return ss.Corpus.from_texts([f"{text} unheard{len(text)}" for text in texts], labels=labels)

    @cached_property
    def short(self) -> ss.Corpus:
        """Documents so short that many topics are learned over few of them."""
        return ss.Corpus.from_texts(self.draw(1_000, 10, 3)[0])

    @cached_property
    def bilingual(self) -> ss.Corpus:
        """Documents in English, in what stands for German, or in both."""
        texts, _ = self.drawn
        german = [" ".join(f"de{word}" for word in text.lower().rstrip(".").split()) for text in texts]
        both = [{"en": text, "de": other} for text, other in zip(texts, german, strict=True)]
        return ss.Corpus.from_texts(
            [{("en", "de")[n % 2]: list(one.values())[n % 2]} if n % 3 else one for n, one in enumerate(both)]
        )

    @cached_property
    def fractions(self) -> sp.csr_matrix:
        """Counts that are not whole, as weights are."""
        counts = self.corpus.counts[:200].astype(np.float64)
        counts.data *= 0.75
        return counts


# --- topics and dimensions ---------------------------------------------------------------------------------------------------


def attributes(model: Any) -> dict[str, Any]:
    """Return the public attributes of a fitted model. Seconds differ from run to run."""
    found = {name: getattr(model, name) for name in ATTRIBUTES if hasattr(model, name)}
    if "heldout_path_" in found:
        found["heldout_path_"] = [(iteration, perplexity) for iteration, _, perplexity in found["heldout_path_"]]
    return found


def fitted(model: Any, X: Any, y: Any = None, **arguments: Any) -> dict[str, Any]:
    """Fit a model by one thread."""
    model.set_params(engine=ss.ThreadEngine(1))
    return attributes(model.fit(X, y, **arguments) if y is not None else model.fit(X, **arguments))


def used(model: Any, X: Any, new: Any, folder: Path, **arguments: Any) -> dict[str, Any]:
    """Fit a model by two threads, and use it in every way; keep it, take it up, and use it again."""
    model.set_params(engine=ss.ThreadEngine(2))
    model.fit(X, **arguments)
    found = attributes(model) | {"transform": model.transform(new)}
    if getattr(model, "weighting", "hellinger") == "hellinger":
        found["perplexity"] = model.perplexity(new)
    found |= {"coherence": model.coherence(X), "diversity": model.diversity()} if hasattr(model, "top_words") else {}
    if isinstance(model, ss.LDA):
        few = new[:20] if sp.issparse(new) else new.filter(range(20))
        whole = not sp.issparse(new)
        found |= {"elbo": model.elbo(few)}
        found |= {"draws": [tuple(one) for one in model.sample_assignments(few, 2, seed=3)]} if whole else {}
    if not isinstance(model, ss.LSA):
        edited = model.merge_topics([0, 1], name="both").remove_topics([2])
        found |= {"perplexity, common": model.perplexity(new, prior="common"), "top words": model.top_words(5, weights=True)}
        found |= {
            "edited": attributes(edited),
            "edited, transform": edited.transform(new),
            "word topics": model.word_topics(new),
        }
    elif model.weighting == "hellinger":
        found |= {"probability": model.probability_rows([0, 1]), "figure of merit": model.figure_of_merit()}
    return found | kept(model, folder, lambda again: {"transform": again.transform(new)})


def kept(model: Any, folder: Path, use: Callable[[Any], Mapping[str, Any]]) -> dict[str, Any]:
    """Save and load a model; what it wrote, and what it then does."""
    model.save(folder)
    again = ss.load(folder)
    of_loaded = {**attributes(again), **use(again)}
    return {"files": files_of(folder)} | {f"loaded, {name}": value for name, value in of_loaded.items()}


def files_of(folder: Path) -> list[tuple[str, bytes]]:
    """All files of a directory but manifests, which name versions; their folders have names that are drawn by lot."""
    return sorted(
        (path.name, path.read_bytes()) for path in folder.rglob("*") if path.is_file() and path.name != "manifest.json"
    )


def lsa(material: Material) -> dict[str, tuple[Callable[[], Any], Any]]:
    """Every weighting, precision and solver."""
    found = {}
    for weighting, dtype in product(("hellinger", "counts", "tfidf", "logtfidf", "logentropy"), ("float32", "float64")):
        settings = {"weighting": weighting, "dtype": dtype, "random_state": 4}
        found[f"LSA, {weighting}, {dtype}"] = partial(ss.LSA, 6, **settings), material.corpus
    found["LSA, arpack"] = partial(ss.LSA, 6, solver="arpack", random_state=4), material.corpus
    return found


def plsa(material: Material) -> dict[str, tuple[Callable[[], Any], Any]]:
    """Plain, tempered and as in a textbook."""
    make = partial(ss.PLSA, 6, max_iter=6, tol=0, random_state=5)
    kinds = {
        "plain": {},
        "tempered": {"tempering": 0.8},
        "β found": {"tempering": "auto"},
        "textbook": {"algorithm": "textbook"},
    }
    return {
        f"PLSA, {name}, {dtype}": (partial(make, dtype=dtype, **settings), material.corpus)
        for (name, settings), dtype in product(kinds.items(), ("float32", "float64"))
    }


def lda(material: Material) -> dict[str, tuple[Callable[[], Any], Any]]:
    """Both ways of inference with every prior, precision, and many topics."""
    found = {}
    for inference, alpha, eta in product(("cvb0", "vb"), (0.1, "auto"), (0.03, "auto")):
        settings = {"inference": inference, "alpha": alpha, "eta": eta, "max_iter": 6, "tol": 0, "random_state": 6}
        name = f"LDA, {inference}, α {alpha}, η {eta}"
        found[name] = partial(ss.LDA, 5, **settings), material.corpus
        found[f"{name}, fractions"] = partial(ss.LDA, 5, **settings), material.fractions
        found[f"{name}, 256 topics"] = partial(ss.LDA, 256, **settings | {"max_iter": 4}), material.short
    for inference, alpha in product(("cvb0", "vb"), (0.1, "auto")):
        settings = {"inference": inference, "alpha": alpha, "max_iter": 6, "tol": 0, "random_state": 6}
        lists = ss.InformedPrior(LISTS, strength=5.0)
        found[f"LDA, {inference}, α {alpha}, word lists"] = partial(ss.LDA, 5, eta=lists, **settings), material.corpus
        found[f"LDA, {inference}, α {alpha}, float64"] = partial(ss.LDA, 5, dtype="float64", **settings), material.corpus
    for inference in ("cvb0", "vb"):
        settings = {"inference": inference, "max_iter": 6, "tol": 0, "random_state": 6, "alpha": np.arange(1, 6) / 10}
        eta = np.random.default_rng(7).random((5, material.corpus.n_words)) + 0.01
        found[f"LDA, {inference}, priors that are arrays"] = partial(ss.LDA, 5, eta=eta, **settings), material.corpus
        stopped = {"inference": inference, "tol": 1e-3, "max_iter": 40, "random_state": 6}
        found[f"LDA, {inference}, until convergence"] = partial(ss.LDA, 5, **stopped), material.corpus
    return found


def polylingual(material: Material) -> dict[str, tuple[Callable[[], Any], Any]]:
    """Two languages."""
    by_language = {"en": ss.InformedPrior(LISTS), "de": ss.InformedPrior(LISTS_IN_GERMAN)}
    found = {}
    for inference, (alpha, eta) in product(("cvb0", "vb"), ((0.1, 0.03), ("auto", "auto"), (0.1, by_language))):
        name = f"PolylingualLDA, {inference}, α {alpha}, η {'word lists' if isinstance(eta, dict) else eta}"
        settings = {"inference": inference, "alpha": alpha, "eta": eta, "max_iter": 6, "tol": 0, "random_state": 8}
        found[name] = partial(ss.PolylingualLDA, 5, **settings), material.bilingual
    return found


ESTIMATORS = {"LSA": lsa, "PLSA": plsa, "LDA": lda, "PolylingualLDA": polylingual}


def models(which: Iterable[str], material: Material) -> Cases:
    """Fit each model by one thread, and by two, which then use it."""
    cases: Cases = {}
    for kind in which:
        for name, (make, X) in ESTIMATORS[kind](material).items():
            new = material.new if isinstance(X, ss.Corpus) else X[:40]
            new = X.filter(range(60)) if kind == "PolylingualLDA" else new
            own = material.folder / f"model {len(cases)} {kind}"
            cases[f"{name}, 1 thread"] = lambda make=make, X=X: fitted(make(), X)
            cases[f"{name}, 2 threads"] = lambda make=make, X=X, new=new, own=own: used(make(), X, new, own)
    return cases


def ways(material: Material) -> Cases:
    """Other ways to fit: judged on the way, spilling, resumed, from streams."""
    cases: Cases = {}
    makers = {"PLSA": partial(ss.PLSA, 5), "LDA": partial(ss.LDA, 5), "LDA, vb": partial(ss.LDA, 5, inference="vb")}
    makers["LDA, α and η learned"] = partial(ss.LDA, 5, alpha="auto", eta="auto")
    for name, make in makers.items():
        make = partial(make, max_iter=6, tol=0, random_state=9)
        own = material.folder / name
        cases[f"{name}, judged meanwhile"] = partial(_judged, make, material)
        cases[f"{name}, spilling"] = partial(_spilling, make, material)
        cases[f"{name}, resumed"] = partial(_resumed, make, material, own)
    for inference, alpha, k in product(("cvb0", "vb"), (0.1, "auto"), (5, 256)):
        settings = {"inference": inference, "alpha": alpha, "eta": "auto" if alpha == "auto" else 0.03, "batch_size": 64}
        make = partial(ss.LDA, k, random_state=10, max_iter=3, **settings)
        cases[f"LDA, {inference}, α {alpha}, {k} topics, stream"] = partial(_streamed, make, material, k)
    lists = partial(ss.LDA, 5, random_state=10, eta=ss.InformedPrior(LISTS), batch_size=64)
    cases["LDA, word lists, stream"] = partial(_streamed, lists, material, 5)
    cases["PolylingualLDA, counterparts"] = lambda: {
        "counterparts": ss.PolylingualLDA(5, max_iter=5, random_state=8)
        .fit(material.bilingual)
        .counterparts(material.bilingual.filter(range(30)), material.bilingual, 4)
    }
    cases["LSA, neighbors"] = partial(_near, material)
    return cases


def _judged(make: Callable[[], Any], material: Material) -> dict[str, Any]:
    return attributes(make().fit(material.corpus, heldout=material.new))


def _spilling(make: Callable[..., Any], material: Material) -> dict[str, Any]:
    return attributes(make(engine=ss.ThreadEngine(2, spill=True)).fit(material.corpus))


def _resumed(make: Callable[..., Any], material: Material, folder: Path) -> dict[str, Any]:
    folder.mkdir()
    make(max_iter=4).fit(material.corpus, checkpoints=ss.Checkpoints(folder / "unfinished", 0.0))
    return attributes(make().fit(material.corpus, checkpoints=ss.Checkpoints(folder / "unfinished", 1e9, resume=True)))


def _streamed(make: Callable[[], Any], material: Material, k: int) -> dict[str, Any]:
    """Learn from texts batch after batch; and go on from a fit."""
    texts = material.draw(600, 10, 11)[0]
    model = make()
    for first in range(0, len(texts), 300):
        model.partial_fit(texts[first : first + 300])
    further = make().fit(material.short if k > 5 else material.corpus).partial_fit(texts[:100])
    of_fit = {f"after a fit, {name}": value for name, value in attributes(further).items()}
    return attributes(model) | of_fit | {"transform": model.transform(material.new)}


def _near(material: Material) -> dict[str, Any]:
    model = ss.LSA(6, random_state=4).fit(material.corpus)
    found = {"words": model.similar_words("river", 8), "documents": model.similar_documents(1, 8)}
    return found | {"text": model.similar_documents("rivers and stones", 8)}


# --- labels ------------------------------------------------------------------------------------------------------------------


def labels(material: Material) -> Cases:
    """Labeled LDA at once and from streams."""
    cases: Cases = {}
    for name, settings in {"": {}, ", background": {"background": 2}, ", burn-in": {"burn_in": 3, "alpha": 0.5}}.items():
        make = partial(ss.LabeledLDA, max_iter=10, random_state=12, **settings)
        cases[f"LabeledLDA{name}, 1 thread"] = lambda make=make: fitted(make(), material.corpus)
        own = material.folder / f"labels{name}"
        cases[f"LabeledLDA{name}, 2 threads"] = lambda make=make, own=own: _labeled(
            make(engine=ss.ThreadEngine(2)).fit(material.corpus), material, own
        )
    single = [(one or ["none"])[0] for one in material.drawn[1]]
    cases["LabeledLDA, one label each"] = lambda: _labeled(
        ss.LabeledLDA(max_iter=10, random_state=12).fit(material.drawn[0], single), material, material.folder / "labels, single"
    )
    kinds: dict[str, dict[str, Any]] = {
        "": {}, ", published weights": {"weights": "published"}, ", half-life": {"half_life": 100.0},
        ", no rejuvenation": {"rejuvenation": 0}, ", small memory": {"memory": 2_000, "n_initial": 20},
    }  # fmt: skip
    for name, settings in kinds.items():
        make = partial(ss.OnlineLabeledLDA, 4, random_state=13, **settings)
        cases[f"OnlineLabeledLDA{name}"] = partial(_online, make, material, material.folder / f"stream{name}")
    cases["OnlineLabeledLDA, corpus and matrix"] = partial(_online_otherwise, material)
    return cases


def _labeled(model: Any, material: Material, folder: Path) -> dict[str, Any]:
    text = material.drawn[0][3]

    def use(model: Any) -> dict[str, Any]:
        found = {
            what: getattr(model, what)(material.new) for what in ("transform", "predict_proba", "predict", "predicted_labels")
        }
        found |= {"attribute": [tuple(one) for one in model.attribute(text)], "top words": model.top_words("topic 1", 6)}
        return found | {"perplexity": model.perplexity(material.new), "snippet": model.snippet(text, "topic 1", 8)}

    return attributes(model) | use(model) | kept(model, folder, use)


def _online(make: Callable[[], Any], material: Material, folder: Path) -> dict[str, Any]:
    """Learn batch after batch; and save, load and go on."""
    (texts, given), model = material.drawn, make()
    for first in range(0, 240, 60):
        model.partial_fit(texts[first : first + 60], given[first : first + 60])
    found = _labeled(model, material, folder)
    resumed = ss.load(folder).partial_fit(texts[240:300], given[240:300])
    return found | {f"resumed, {name}": value for name, value in attributes(resumed).items()}


def _online_otherwise(material: Material) -> dict[str, Any]:
    given = material.drawn[1][:150]
    of_corpus = ss.OnlineLabeledLDA(4, random_state=13).partial_fit(material.corpus.filter(range(150)))
    of_matrix = ss.OnlineLabeledLDA(4, random_state=13).partial_fit(material.corpus.counts[:150], given)
    found = {f"corpus, {name}": value for name, value in attributes(of_corpus).items()}
    return found | {f"matrix, {name}": value for name, value in attributes(of_matrix).items() if name != "vocabulary_"}


# --- corpora -----------------------------------------------------------------------------------------------------------------


def contents(corpus: ss.Corpus) -> dict[str, Any]:
    """Return what a corpus holds."""
    return {
        "fingerprint": corpus.fingerprint, "counts": corpus.counts, "vocabulary": corpus.vocabulary, "ids": corpus.ids,
        "labels": corpus.labels, "texts": corpus.texts, "n_tokens": corpus.n_tokens, "languages": corpus.languages,
        "word_languages": corpus.word_languages, "documents": corpus.documents,
    }  # fmt: skip


def corpora(material: Material) -> Cases:
    """Every source, in memory and on disk; every setting of words."""
    texts, given = material.drawn
    settings: dict[str, dict[str, Any]] = {
        "default": {}, "stop words": {"stop_words": "english"}, "stop words listed": {"stop_words": ["river", "and"]},
        "German stop words": {"stop_words": "german"}, "stems": {"stemmer": "english"}, "pairs": {"ngrams": (1, 2)},
        "triples of stems without stop words": {"ngrams": (2, 3), "stemmer": "english", "stop_words": "english"},
        "limits": {"min_df": 5, "max_df": 0.3}, "most frequent": {"max_features": 100, "ngrams": (1, 2)},
        "pattern": {"token_pattern": r"[a-z]+", "lowercase": False, "min_length": 4},
    }  # fmt: skip
    lines = material.folder / "texts.jsonl"
    records = [{"id": f"d{n}", "text": text, "labels": given[n], "title": f"No {n}"} for n, text in enumerate(texts)]
    lines.write_text("".join(json.dumps(one) + "\n" for one in records))
    table = material.folder / "texts.csv"
    pl.DataFrame([{**one, "labels": "|".join(one["labels"])} for one in records]).write_csv(table)
    cases: Cases = {}
    for number, (name, of) in enumerate(settings.items()):
        analyzer = ss.Analyzer(**of)
        cases[f"corpus, texts, {name}"] = lambda analyzer=analyzer: contents(
            ss.Corpus.from_texts(texts, labels=given, analyzer=analyzer)
        )
        build = partial(ss.Corpus.build, analyzer=analyzer)
        cases[f"corpus, JSON lines, {name}"] = lambda build=build: contents(build(ss.read(lines)))
        own = material.folder / f"corpus {number}"
        cases[f"corpus, JSON lines, {name}, on disk"] = lambda build=build, own=own: (
            contents(build(ss.read(lines), path=own)) | {"files": files_of(own)}
        )
    cases["corpus, CSV"] = lambda: contents(ss.Corpus.build(ss.read(table, label_separator="|")))
    cases["corpus, frame"] = lambda: contents(ss.Corpus.build(pl.DataFrame(records)))
    cases["corpus, tokens"] = lambda: contents(ss.Corpus.from_tokens([text.split() for text in texts]))
    cases["corpus, in two languages"] = lambda: contents(material.bilingual)
    return cases | _counted(material) | _parts(material)


def _counted(material: Material) -> Cases:
    """Documents that are counts already."""
    counts, words = material.corpus.counts, material.corpus.vocabulary.tolist()
    ldac, market = material.folder / "counts.ldac", material.folder / "counts.mtx"
    rows = [counts[row] for row in range(counts.shape[0])]
    pairs = [[f"{word}:{int(n)}" for word, n in zip(row.indices, row.data, strict=True)] for row in rows]
    ldac.write_text("".join(" ".join([str(len(one)), *one]) + "\n" for one in pairs))
    scipy.io.mmwrite(market, counts)
    own = material.folder / "counted"
    return {
        "corpus, matrix": lambda: contents(ss.Corpus.from_matrix(counts, words)),
        "corpus, dense matrix": lambda: contents(ss.Corpus.from_matrix(counts.toarray())),
        "corpus, LDA-C": lambda: contents(ss.Corpus.build(ss.read_counts(ldac, vocabulary=words))),
        "corpus, LDA-C, on disk": lambda: contents(ss.Corpus.build(ss.read_counts(ldac, vocabulary=words), path=own)),
        "corpus, MatrixMarket": lambda: contents(ss.Corpus.build(ss.read_counts(market))),
    }


def _parts(material: Material) -> Cases:
    """Parts of corpora, and the same documents over other words."""
    own = material.folder / "saved corpus"

    def saved() -> dict[str, Any]:
        material.bilingual.save(own)
        return contents(ss.Corpus.open(own)) | {"files": files_of(own)}

    return {
        "corpus, saved": saved,
        "corpus, part": lambda: contents(material.corpus.filter(range(10, 90, 3))),
        "corpus, split": lambda: contents(material.corpus.split(0.2, seed=3)[1]),
        "corpus, one of two languages": lambda: contents(material.bilingual.in_language("de")),
        "corpus, over other words": lambda: contents(material.new.reindexed(material.corpus.lexicon)),
        "corpus, with a vocabulary": lambda: contents(
            ss.Corpus.from_texts(material.drawn[0][:50], vocabulary=material.corpus.lexicon)
        ),
    }


# --- search ------------------------------------------------------------------------------------------------------------------


def indexes(material: Material) -> Cases:
    """Search by every similarity, before and after the index was changed."""
    topics = partial(ss.LDA, 6, max_iter=6, random_state=14)
    return {
        "index, topics": lambda: searched(ss.Index.build(material.corpus, topics().fit(material.corpus)), material),
        "index, PLSA": lambda: searched(
            ss.Index.build(material.corpus, ss.PLSA(6, max_iter=6, random_state=14).fit(material.corpus)), material
        ),
        "index, no model": lambda: searched(ss.Index.build(material.corpus, n_dimensions=12), material, BY_SPACE),
        "index, LSA": lambda: searched(
            ss.Index.build(material.corpus, ss.LSA(9, weighting="logtfidf", random_state=1).fit(material.corpus)),
            material, BY_SPACE,
        ),
        "index, changed": lambda: _changed(ss.Index.build(material.corpus, topics().fit(material.corpus)), material),
        "index, two languages": lambda: searched(
            ss.Index.build(material.bilingual, ss.PolylingualLDA(6, max_iter=6, random_state=14).fit(material.bilingual)),
            material, language="en",
        ),
    }  # fmt: skip


BY_SPACE = ("bm25", "cosine", "lsa", "hybrid")


def searched(
    index: ss.Index, material: Material, by: Sequence[str] = SIMILARITIES, language: str | None = None, where: Any = None
) -> dict[str, Any]:
    """Return ids, scores and snippets of what some queries find."""
    queries = [" ".join(text.split()[:6]) for text in material.draw(12, 30, 15)[0] if len(text) > 60]
    found: dict[str, Any] = {}
    for name in by:
        found[name] = [_told(hits) for hits in index.search(queries, 20, by=name, language=language, where=where)]
    found["similar"] = _told(index.similar("5", 10))
    found["related words"] = index.related_words(queries[0], 10, language=language)
    return found


def _told(hits: Any) -> list[tuple[Any, ...]]:
    return [(hit.id, hit.score, hit.title, hit.labels, hit.snippet and hit.snippet.text) for hit in hits]


def _changed(index: ss.Index, material: Material) -> dict[str, Any]:
    """Save, add, delete and merge; search after each."""
    own, found = material.folder / "index", {}

    def note(what: str, index: ss.Index) -> None:
        found.update({f"{what}, {name}": value for name, value in searched(index, material).items()})
        found[f"{what}, ids"] = index.ids

    index.save(own)
    note("saved", ss.Index.open(own))
    texts = material.draw(50, 40, 16)[0]
    index.add(texts, ids=[f"new {number}" for number in range(len(texts))])
    note("added", index)
    index.delete(["3", "4", "new 7"])
    note("deleted", index)
    index.add(["rivers and stones"], ids=["8"], replace=True)
    found["files"] = files_of(own)
    note("opened with segments", ss.Index.open(own))
    index.merge()
    note("merged", index)
    found |= {f"filtered, {name}": value for name, value in searched(index, material, where={"label": "topic 1"}).items()}
    note("opened at last", ss.Index.open(own))
    return found


# --- real documents, other engines -------------------------------------------------------------------------------------------


def real(material: Material) -> Cases:
    """A real collection, if there is one."""
    texts = [record["text"] for record in data.records(MED)]
    with (data.folder(MED) / "queries.jsonl.gz").open("rb") as file:
        queries = pl.read_ndjson(file.read())["text"].to_list()
    corpus = ss.Corpus.from_texts(texts, analyzer=ss.Analyzer(stop_words="english", stemmer="english", min_df=2))
    train, test = corpus.split(0.1, seed=0)
    made = {
        "LSA": ss.LSA(32, random_state=0), "PLSA": ss.PLSA(32, max_iter=10, random_state=0, tempering="auto"),
        "LDA": ss.LDA(32, max_iter=10, random_state=0, alpha="auto", eta="auto"),
        "LDA, vb": ss.LDA(32, max_iter=10, random_state=0, inference="vb"),
        "LDA, many topics": ss.LDA(256, max_iter=4, random_state=0),
    }  # fmt: skip
    cases: Cases = {"med, corpus": lambda: contents(corpus)}
    for name, model in made.items():
        cases[f"med, {name}"] = lambda model=model, name=name: used(model, train, test, material.folder / f"med {name}")

    def search() -> dict[str, Any]:
        index = ss.Index.build(corpus, ss.LDA(32, max_iter=10, random_state=0).fit(corpus))
        return {name: list(map(_told, index.search(queries, 20, by=name))) for name in SIMILARITIES}

    return cases | {"med, search": search}


def on_engine(engine: Any, material: Material, corpus: Path) -> Cases:
    """The main algorithms on an engine, from a corpus on disk."""
    makers: dict[str, Callable[..., Any]] = {
        "LSA": partial(ss.LSA, 5), "PLSA": partial(ss.PLSA, 5), "PLSA, β found": partial(ss.PLSA, 5, tempering="auto"),
        "LDA": partial(ss.LDA, 5), "LDA, vb": partial(ss.LDA, 5, inference="vb", alpha="auto", eta="auto"),
        "LDA, α and η learned": partial(ss.LDA, 5, alpha="auto", eta="auto"),
        "LabeledLDA": partial(ss.LabeledLDA, background=1),
    }  # fmt: skip

    def fit(make: Callable[..., Any]) -> dict[str, Any]:
        opened = ss.Corpus.open(corpus)
        model = make(max_iter=5, random_state=17, engine=engine).fit(opened)
        return attributes(model) | {"transform": model.transform(opened), "perplexity": model.perplexity(opened)}

    name = type(engine).__name__.removesuffix("Engine")
    return {f"{what}, {name}": partial(fit, make) for what, make in makers.items()}

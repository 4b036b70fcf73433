"""What holds of an index whatever was done to it: it finds what one built anew finds, on disk as in memory."""

import datetime
import math
import re
from collections import Counter
from functools import cache
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from semascope import LDA, LSA, Analyzer, Corpus, Index, PolylingualLDA
from semascope.retrieval.fisher import INFORMATION, PARTS, PROCESSES
from semascope.retrieval.highlighting import LENGTH, snippet_of

FISHER = ["-".join(["fisher", *choice]) for choice in product(PROCESSES, INFORMATION, PARTS) if choice[2] != "both"]
FISHER += ["-".join(["fisher", *choice]) for choice in product(PROCESSES, INFORMATION)]
BY_WORDS = ["bm25", "cosine"]
EVERY_WAY = [*BY_WORDS, "lsa", "kl", "kl-published", "lda", *FISHER, "hybrid"]

ORDINARY = [f"word{number}" for number in range(30)]
OF_TOPICS = [f"topical{number}" for number in range(5)]
"""Words that the topic model knows, but not the space."""
NEW = [f"new{number}" for number in range(10)]
"""Words that no model knows."""


# --- texts and models ------------------------------------------------------------------------------------------------------


@cache
def planted():
    rng = np.random.default_rng(0)
    return rng.dirichlet(np.full(len(ORDINARY) + len(OF_TOPICS), 0.2), 3)


def some_text(rng, new=0.1):
    """A text of a planted topic or two, with some new words."""
    p = rng.dirichlet([0.3] * 3) @ planted()
    ordinary = rng.choice(ORDINARY + OF_TOPICS, size=rng.integers(1, 25), p=p / p.sum())
    return " ".join([*ordinary, *rng.choice(NEW, size=rng.binomial(10, new))])


@cache
def models():
    """A space and topics, fitted to texts that are in no index."""
    rng = np.random.default_rng(1)
    texts = [some_text(rng, new=0) for _ in range(150)]
    space = LSA(6, weighting="logtfidf", random_state=0).fit([re.sub(r"topical\d", "", text) + " and" for text in texts])
    return space, LDA(3, max_iter=30, random_state=0).fit(texts)


def index_of(documents):
    """An index of texts by id, with models that were given to it."""
    return Index._of(Corpus.from_texts(list(documents.values()), ids=list(documents)), *models())


def some_queries(rng, n=6):
    """Queries of some words or of a whole text; some have words that no model or no document knows."""
    words = [*ORDINARY, *OF_TOPICS, *NEW, "unheard"]
    queries = [" ".join(rng.choice(words, size=size)) for size in rng.integers(1, 6, n)]
    return [*queries, rng.choice(OF_TOPICS), rng.choice(NEW), some_text(rng)]


def scores_by_id(index, queries, by, **how):
    """Of each query the documents that are found, with their scores."""
    ids = index.ids.to_list()
    rankings = index.rank(index.read(queries), len(ids), by=by, **how)
    return [{ids[number]: score for number, score in zip(*ranking, strict=True)} for ranking in rankings]


def assert_same_scores(one, other, queries, ways=EVERY_WAY):
    for by in ways:
        for query, mine, theirs in zip(queries, scores_by_id(one, queries, by), scores_by_id(other, queries, by), strict=True):
            assert mine.keys() == theirs.keys(), (by, query)
            found, wanted = (np.array([scores[id] for id in sorted(scores)]) for scores in (mine, theirs))
            size = np.abs(wanted).max(initial=0)
            assert_allclose(found, wanted, rtol=1e-4, atol=1e-5 * size, err_msg=f"{by}: {query}")


# --- documents come and go -------------------------------------------------------------------------------------------------


class Changing:
    """An index, and the documents that should be in it."""

    def __init__(self, rng, path):
        self.rng, self.path, self.n_ids = rng, path, 0
        self.documents = self.fresh(rng.integers(1, 12))
        self.index = index_of(self.documents)

    def fresh(self, n):
        ids = range(self.n_ids, self.n_ids + n)
        self.n_ids += n
        return {f"id{number}": some_text(self.rng) for number in ids}

    def some(self):
        return list(self.rng.choice(list(self.documents), size=self.rng.integers(1, len(self.documents) + 1), replace=False))

    def add(self):
        documents = self.fresh(self.rng.integers(1, 7))
        self.index.add(list(documents.values()), ids=list(documents))
        self.documents |= documents

    def replace(self):
        documents = {id: some_text(self.rng) for id in self.some()[:3]} | self.fresh(self.rng.integers(0, 3))
        self.index.add(list(documents.values()), ids=list(documents), replace=True)
        self.documents |= documents

    def delete(self):
        ids = self.some()[: len(self.documents) - 1]
        self.index.delete(ids)
        for id in ids:
            del self.documents[id]

    def merge(self):
        self.index.merge()
        assert len(self.index._segments) == 1

    def save(self):
        self.index.save(self.path)

    def reopen(self):
        self.index.save(self.path)
        self.index = Index.open(self.path)


CHANGES = ["add", "add", "add", "replace", "delete", "merge", "save", "reopen"]


@pytest.mark.parametrize("seed", range(20))
def test_after_any_changes_an_index_scores_as_one_built_anew(seed, tmp_path):
    rng = np.random.default_rng(seed)
    changing = Changing(rng, tmp_path / "index")
    for change in rng.choice(CHANGES, size=rng.integers(1, 15)):
        getattr(changing, change)()
        assert len(changing.index) == len(changing.documents)
    found = changing.index.documents([changing.index.number_of(id) for id in changing.documents])
    assert dict(zip(found["id"], found["text"], strict=True)) == changing.documents
    assert_same_scores(changing.index, index_of(changing.documents), some_queries(rng))
    if changing.index.path:
        assert_same_scores(Index.open(changing.path), changing.index, some_queries(rng))


def test_words_of_deleted_documents_are_as_if_they_had_never_been():
    documents = {"a": "word1 word2", "b": "word1 word3 word3", "c": f"word1 {NEW[0]} {OF_TOPICS[0]}"}
    index = index_of(documents)
    index.delete("c")
    queries = [f"word1 {NEW[0]}", NEW[0], OF_TOPICS[0], f"word2 {OF_TOPICS[0]}"]
    del documents["c"]
    assert_same_scores(index, index_of(documents), queries)


@pytest.mark.parametrize("seed", range(6))
def test_an_opened_index_gives_the_bits_of_the_saved_one(seed, tmp_path):
    rng = np.random.default_rng(seed)
    changing = Changing(rng, tmp_path / "index")
    for change in rng.choice(["add", "replace", "delete"], size=6):
        getattr(changing, change)()
    changing.index.save(tmp_path / "index")
    opened, queries = Index.open(tmp_path / "index"), some_queries(rng)
    for by in EVERY_WAY:
        rankings = (index.rank(index.read(queries), 1000, by=by) for index in (changing.index, opened))
        for mine, theirs in zip(*rankings, strict=True):
            assert mine.numbers.tobytes() == theirs.numbers.tobytes(), by
            assert mine.scores.tobytes() == theirs.scores.tobytes(), by


def test_segments_stay_few_when_documents_come_one_by_one():
    rng = np.random.default_rng(0)
    index = index_of({"first": "word0 word1"})
    for number in range(2, 130):
        index.add([some_text(rng)], ids=[str(number)])
        assert len(index) == number
        assert len(index._segments) <= math.log2(number) + 2
        assert sum(segment.corpus.n_documents for segment in index._segments) == number


# --- queries together ------------------------------------------------------------------------------------------------------


@cache
def larger_index():
    rng = np.random.default_rng(3)
    index = index_of({str(number): some_text(rng) for number in range(300)})
    index.add([some_text(rng) for _ in range(40)])
    index.delete([str(number) for number in range(0, 300, 7)])
    return index


@pytest.mark.parametrize("by", EVERY_WAY)
def test_queries_get_the_same_answers_together_as_one_at_a_time_on_one_core_as_on_two(by, monkeypatch):
    index, queries = larger_index(), some_queries(np.random.default_rng(4), n=70)
    answers = {}
    for n_cores in (1, 2):
        for place in ("retrieval.ranking", "training.linalg"):
            monkeypatch.setattr(f"semascope.{place}.usable_cores", lambda n_cores=n_cores: n_cores)
        answers[n_cores] = index.rank(index.read(queries), 1000, by=by)
    alone = [index.rank(index.read([query]), 1000, by=by)[0] for query in queries]
    for one, two, single in zip(answers[1], answers[2], alone, strict=True):
        assert one.numbers.tobytes() == two.numbers.tobytes()
        assert one.scores.tobytes() == two.scores.tobytes()
        if by in BY_WORDS:
            assert one.numbers.tobytes() == single.numbers.tobytes()
            assert one.scores.tobytes() == single.scores.tobytes()
        together, apart = (dict(zip(*ranking, strict=True)) for ranking in (one, single))
        assert together.keys() == apart.keys()
        size = max(map(abs, apart.values()), default=0) or 1
        assert_allclose([together[number] / size for number in apart], [score / size for score in apart.values()], atol=1e-6)


def test_fewer_documents_are_the_first_of_more():
    index, queries = larger_index(), some_queries(np.random.default_rng(5), n=20)
    for by in ("bm25", "lsa", "lda", "hybrid"):
        for many, few in zip(*(index.rank(index.read(queries), k, by=by) for k in (200, 7)), strict=True):
            assert few.numbers.tolist() == many.numbers[:7].tolist()
            assert (np.diff(many.scores) <= 0).all()


@pytest.mark.parametrize("with_topics", [True, False])
def test_hybrid_search_gives_only_documents_with_a_word_of_the_query_where_the_space_knows_none(with_topics):
    rng = np.random.default_rng(6)
    documents = {str(number): some_text(rng) for number in range(60)}
    space, topics = models()
    index = Index._of(Corpus.from_texts(list(documents.values()), ids=list(documents)), space, topics if with_topics else None)
    for query in (NEW[0], f"{NEW[1]} {NEW[2]}", OF_TOPICS[0], f"{OF_TOPICS[1]} {NEW[3]} unheard"):
        having = {id for id, text in documents.items() if set(text.split()) & set(query.split())}
        assert 0 < len(having) < 60
        assert scores_by_id(index, [query], "hybrid")[0].keys() == having
    assert index.search("unheard") == []


# --- which documents are wanted --------------------------------------------------------------------------------------------

LABELS = ["sport", "money", "arts"]


def described_documents(rng, first, n):
    """A frame of documents with labels, years and dates, some of which lack them."""
    days = [datetime.date(2000, 1, 1) + datetime.timedelta(days=int(day)) for day in rng.integers(0, 2000, n)]
    return pl.DataFrame(
        {
            "id": [str(number) for number in range(first, first + n)],
            "text": [{"en": some_text(rng), "de": some_text(rng) if rng.random() < 0.5 else None} for _ in range(n)],
            "labels": [[label for label in LABELS if rng.random() < 0.4] for _ in range(n)],
            "year": [day.year if rng.random() < 0.9 else None for day in days],
            "date": [str(day)[: rng.choice([4, 7, 10])] for day in days],
            "day": days,
            "price": rng.integers(0, 6, n) / 2,
            "open": rng.random(n) < 0.5,
        }
    )


def within(value, least, most):
    return value is not None and (least is None or value >= least) and (most is None or value <= most)


FILTERS = {
    "a label": ({"label": "sport"}, lambda d: "sport" in d["labels"]),
    "labels": ({"label": ["sport", "arts"]}, lambda d: {"sport", "arts"} & set(d["labels"])),
    "no label": ({"label": []}, lambda d: False),
    "an unheard-of label": ({"label": "politics"}, lambda d: False),
    "language": ({"language": "de"}, lambda d: d["text"]["de"] is not None),
    "languages": ({"language": ["en", "de"]}, lambda d: True),
    "a year": ({"year": 2002}, lambda d: d["year"] == 2002),
    "a year as text": ({"year": "2002"}, lambda d: d["year"] == 2002),
    "years": ({"year": [2001, 2004]}, lambda d: d["year"] in (2001, 2004)),
    "no year": ({"year": None}, lambda d: d["year"] is None),
    "from a year": ({"year": (2002, None)}, lambda d: within(d["year"], 2002, None)),
    "up to a year": ({"year": (None, "2002")}, lambda d: within(d["year"], None, 2002)),
    "between years": ({"year": (2001, 2003)}, lambda d: within(d["year"], 2001, 2003)),
    "years the wrong way round": ({"year": (2003, 2001)}, lambda d: False),
    "any year": ({"year": (None, None)}, lambda d: d["year"] is not None),
    "from a month": ({"date": ("2002-06", None)}, lambda d: d["date"] >= "2002-06"),
    "a year of dates": ({"date": ("2003", "2003")}, lambda d: d["date"][:4] == "2003"),
    "up to a month": ({"date": (None, "2002-06")}, lambda d: d["date"] <= "2002-06-99"),
    "a day": ({"day": datetime.date(2001, 5, 1)}, lambda d: d["day"] == datetime.date(2001, 5, 1)),
    "from a day": ({"day": ("2003-05", None)}, lambda d: str(d["day"]) >= "2003-05"),
    "up to a day": ({"day": (None, datetime.date(2003, 5, 1))}, lambda d: d["day"] <= datetime.date(2003, 5, 1)),
    "a price": ({"price": 2}, lambda d: d["price"] == 2),
    "prices": ({"price": (0.5, 1.5)}, lambda d: 0.5 <= d["price"] <= 1.5),
    "open": ({"open": True}, lambda d: d["open"]),
    "not open": ({"open": "false"}, lambda d: not d["open"]),
    "several fields": (
        {"label": "money", "year": (2001, None), "language": "de"},
        lambda d: "money" in d["labels"] and within(d["year"], 2001, None) and d["text"]["de"],
    ),
    "ids": ({"id": ["3", "30", "999"]}, lambda d: d["id"] in ("3", "30")),
    "an expression": (
        (pl.col("year") > 2002) & pl.col("labels").list.contains("arts"),
        lambda d: within(d["year"], 2003, None) and "arts" in d["labels"],
    ),
    "an expression of texts": (
        pl.col("text").struct.field("de").str.contains("word1"),
        lambda d: "word1" in (d["text"]["de"] or ""),
    ),
    "nothing": ({}, lambda d: True),
}


@cache
def index_of_described():
    """An index of three segments from which some documents were deleted, and the documents as plain values."""
    rng = np.random.default_rng(8)
    frames = [described_documents(rng, first, n) for first, n in ((0, 80), (80, 30), (110, 9))]
    index = Index.build(Corpus.build(frames[0]), n_dimensions=5)
    for frame in frames[1:]:
        index.add(frame)
    assert len(index._segments) == 3
    index.delete([str(number) for number in range(0, 119, 6)])
    return index, [row for frame in frames for row in frame.to_dicts() if int(row["id"]) % 6]


@pytest.mark.parametrize("name", FILTERS)
def test_filters_choose_the_documents_that_plain_python_chooses(name):
    (index, documents), (where, is_wanted) = index_of_described(), FILTERS[name]
    wanted = {document["id"] for document in documents if is_wanted(document)}
    assert (len(wanted) > 0) == (name not in ("no label", "an unheard-of label", "years the wrong way round", "a day"))
    for by in ("lsa", "hybrid"):
        assert scores_by_id(index, ["word1 word2 word3"], by, where=where)[0].keys() == wanted


def test_a_field_that_only_some_documents_have_can_be_asked_for():
    index = Index.build(Corpus.from_texts(["word1 word2", "word2 word3", "word3"]))
    index.add(pl.DataFrame({"id": ["red"], "text": ["word1 word3"], "color": ["red"]}))
    assert len(index._segments) == 2
    for _ in range(2):
        assert [hit.id for hit in index.search("word1 word3", where={"color": "red"})] == ["red"]
        assert [hit.id for hit in index.search("word1 word3", where=pl.col("color") == "red")] == ["red"]
        assert len(index.search("word1 word3", where={"color": None})) == 3
        index.merge()


# --- languages -------------------------------------------------------------------------------------------------------------

N_THEMES = 4


def bilingual(rng, theme, languages):
    """A text about a theme, in some languages; no word is in two of them."""
    p = np.where(np.arange(40) % N_THEMES == theme, 1.0, 0.05)
    p /= p.sum()
    return {code: " ".join(f"{code}{number}" for number in rng.choice(40, size=40, p=p)) for code in languages}


@cache
def bilingual_model():
    rng = np.random.default_rng(0)
    texts = [bilingual(rng, number % N_THEMES, ("en", "de")) for number in range(120)]
    return PolylingualLDA(N_THEMES, max_iter=60, random_state=0).fit(texts)


def documents_in(rng, languages, n=40):
    """Texts of which each is in one of some languages, with their themes for labels."""
    themes = [str(number % N_THEMES) for number in range(n)]
    codes = [languages[number // N_THEMES % len(languages)] for number in range(n)]
    return [bilingual(rng, int(theme), [code]) for theme, code in zip(themes, codes, strict=True)], themes


def query_about(theme, code):
    return " ".join(f"{code}{number}" for number in range(theme, 40, N_THEMES))


@pytest.mark.parametrize(
    ("by", "languages"), [*product(["kl", "lda"], [("en", "de"), ("de",), ("de", "en", "en")]), ("hybrid", ("de",))]
)
def test_a_query_in_one_language_finds_documents_that_are_only_in_another(by, languages):
    texts, themes = documents_in(np.random.default_rng(1), languages)
    index = Index.build(Corpus.from_texts(texts, labels=themes), bilingual_model())
    for theme in range(N_THEMES):
        for said in ("en", None):
            found = index.search(query_about(theme, "en"), k=3, by=by, language=said, where={"language": "de"})
            assert [hit.labels for hit in found] == [(str(theme),)] * 3
            assert all(list(texts[int(hit.id)]) == ["de"] for hit in found)


def test_documents_of_one_language_join_those_of_another(tmp_path):
    rng = np.random.default_rng(2)
    texts, themes = documents_in(rng, ("en", "de"), n=16)
    index = Index.build(Corpus.from_texts(texts, labels=themes), bilingual_model(), path=tmp_path / "index")
    index.add([bilingual(rng, 1, ["de"])], ids=["german"])
    index.add([bilingual(rng, 1, ["en"]), bilingual(rng, 2, ["de"])], ids=["english", "german too"])
    where = {"language": "de", "id": ["german", "english"]}
    for _ in range(3):
        (hit,) = index.search(query_about(1, "en"), k=3, by="lda", where=where)
        assert hit.id == "german"
        assert "de1" in hit.snippet.text
        texts_now = index.documents([index.number_of(id) for id in ("0", "german", "english")])["text"].to_list()
        assert texts_now[0] == {"en": texts[0]["en"], "de": None}
        assert [list(filter(text.get, text)) for text in texts_now] == [["en"], ["de"], ["en"]]
        index = Index.open(tmp_path / "index")
        index.merge()


# --- passages --------------------------------------------------------------------------------------------------------------

PIECES = [
    "cat", "Cats", "dog", "sleeping", "the", "x", "naïve", "ЁЖ", "東京", "<b>", "</b>", "&amp;", "cat-dog", "don't", "a_b",
    "🙂", "👩‍👩‍👧", "!!!", "…", "«", "\n", "\n\n", "\t", "\u00a0", "\u2003", " ", "  ", ". ", "w" * 3000, "12", "é" * 40,
]  # fmt: skip
ODD_TEXTS = st.lists(st.sampled_from(PIECES), max_size=80).flatmap(
    lambda pieces: st.sampled_from(["", " ", "  ", "\n"]).map(lambda between: between.join(pieces))
)
ANALYZERS = {
    "plain": Analyzer(),
    "stems": Analyzer(stop_words=["the"], stemmer="english"),
    "as written": Analyzer(lowercase=False, min_length=1),
    "pattern": Analyzer(token_pattern=r"[a-z]+(?:-[a-z]+)?"),
    "group": Analyzer(token_pattern=r"\b([a-z]+)\b"),
}


@pytest.mark.parametrize("name", ANALYZERS)
@settings(max_examples=60, deadline=None)
@given(text=ODD_TEXTS, query=st.sampled_from(["cat", "sleeps dogs", "Cats naïve", "ёж 東京", "nothing", "a_b cat-dog"]))
def test_marks_lie_on_words_of_the_query_and_the_rest_is_the_passage(name, text, query):
    analyzer = ANALYZERS[name]
    asked, related = dict.fromkeys(analyzer.words(query), 2.0), set(analyzer.words("dog w")) - set(analyzer.words(query))
    snippet = snippet_of(text, analyzer, asked, related)
    words = analyzer.words(text)
    for mark in snippet.marks:
        assert analyzer.words(snippet.text[mark.start : mark.end])[0] in (asked if mark.kind == "match" else related)
    assert sorted(snippet.marks, key=lambda mark: (mark.start, mark.end)) == list(snippet.marks)
    assert snippet.marked(("", ""), ("", "")) == snippet.text
    if set(words) & asked.keys():
        assert any(mark.kind == "match" for mark in snippet.marks)
    flat, passage = " ".join(text.split()), snippet.text
    if passage != flat:
        passage = passage.removeprefix("… ").removesuffix(" …")
        assert len(re.findall(analyzer.token_pattern or r"\w+", passage.lower())) <= LENGTH + 1
    assert passage in flat
    assert bool(passage) == bool(flat)


def test_a_passage_is_the_one_with_most_of_the_query_in_it():
    filler = [f"filler{number}" for number in range(200)]
    words = [*filler[:100], "cat", *filler[100:150], "cat", "and", "dog", *filler[150:]]
    snippet = snippet_of(" ".join(words), Analyzer(), {"cat": 2.0, "dog": 2.0}, set())
    assert [snippet.text[mark.start : mark.end] for mark in snippet.marks] == ["cat", "dog"]
    assert snippet.text.startswith("… filler146 ")
    assert snippet.text.endswith(" …")
    assert len(snippet.text.split()) == LENGTH + 2


def test_a_text_that_is_shown_whole_has_no_dots():
    text = "  <p>“Cats”\n\n  sleep.</p>\n"
    assert snippet_of(text, Analyzer(), {"cats": 1.0}, {"sleep"}).marked("[]", "()") == "<p>“[Cats]” (sleep).</p>"


def test_hits_show_words_of_the_query_whatever_the_text():
    having = ["A   cat\n\tsleeps", "<p>The <b>cat</b></p>", "🙂 cat 🙂", "cat " + "w" * 5000, "the CAT! " * 50]
    texts = [*having, "!!! 🙂", "bird sleeps"]
    hits = Index.build(Corpus.from_texts(texts)).search("the cat", by="bm25")
    assert len(hits) == 5
    for hit in hits:
        marked = Counter(hit.snippet.text[mark.start : mark.end].lower() for mark in hit.snippet.marks if mark.kind == "match")
        assert set(marked) <= {"the", "cat"}
        assert marked["cat"] >= 1
        assert hit.to_dict()["marks"] == [[mark.start, mark.end, mark.kind] for mark in hit.snippet.marks]


# --- documents like one ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["bm25", "lsa", "lda", "fisher", "hybrid"])
def test_documents_like_one_are_others(by):
    index = larger_index()
    for number in (1, 50, 299, 310):
        found = [hit.id for hit in index.similar(str(number), 20, by=by)]
        assert str(number) not in found
        assert len(set(found)) == 20
        assert [hit.id for hit in index.similar(str(number), 3, by=by)] == found[:3]


def test_a_copy_of_a_document_is_most_like_it():
    rng = np.random.default_rng(9)
    documents = {str(number): some_text(rng) for number in range(40)}
    index = index_of(documents)
    index.add([documents["7"]], ids=["copy"])
    for by in ("bm25", "cosine", "lsa", "hybrid"):
        assert index.similar("7", 1, by=by)[0].id == "copy"

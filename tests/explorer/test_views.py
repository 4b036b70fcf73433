"""Views of models: words, maps, documents and times, of topics and labels alike."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from semascope import LDA, LSA, PLSA, Analyzer, Corpus, LabeledLDA, OnlineLabeledLDA, PolylingualLDA, load
from semascope.errors import InputError
from semascope.explorer.queries import views
from semascope.explorer.queries.periods import periods_of
from semascope.explorer.queries.views import DocumentShares, TopicView
from semascope.explorer.service.snapshot import Snapshot
from semascope.model_selection import hold_out
from semascope.models.display import topic_map as maps
from semascope.retrieval.highlighting import Snippet

PETS = "cats purr and dogs bark while cats sleep"
MONEY = "banks lend money and stocks rise when banks trade"
STARS = "planets orbit stars while comets cross the sky of stars"
KINDS = {"pets": PETS, "money": MONEY, "stars": STARS}


def documents(n=30):
    names = list(KINDS)
    return pl.DataFrame(
        {
            "id": [f"d{i}" for i in range(n)],
            "text": [f"{KINDS[names[i % 3]]} number{i % 5}" for i in range(n)],
            "labels": [[names[i % 3]] if i % 4 else [names[i % 3], "even"] for i in range(n)],
            "title": [f"title {i}" if i % 2 else None for i in range(n)],
            "date": [f"{1987 + i % 6}-0{1 + i % 3}-10" for i in range(n)],
        }
    )


@pytest.fixture(scope="module")
def corpus():
    return Corpus.build(documents())


@pytest.fixture(scope="module")
def bilingual():
    texts = [
        {"en": PETS, "de": "katzen und hunde war"},
        {"en": MONEY, "de": "banken und geld"},
        {"de": "sterne war am himmel"},
    ] * 6
    return Corpus.from_texts(texts)


@pytest.fixture(scope="module")
def models(corpus, bilingual):
    return {
        "PLSA": (PLSA(3, random_state=0).fit(corpus), corpus),
        "LDA": (LDA(3, random_state=0).fit(corpus), corpus),
        "PolylingualLDA": (PolylingualLDA(3, random_state=0).fit(bilingual), bilingual),
        "LabeledLDA": (LabeledLDA(background=1, max_iter=20, random_state=0).fit(corpus), corpus),
        "OnlineLabeledLDA": (OnlineLabeledLDA(2, random_state=0).partial_fit(corpus), corpus),
    }


EVERY = ["PLSA", "LDA", "PolylingualLDA", "LabeledLDA", "OnlineLabeledLDA"]


# --- words -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
def test_words_of_every_model_have_the_probabilities_of_its_components(models, name):
    model, _ = models[name]
    themes, components = TopicView.of(model), np.asarray(model.components_, np.float64)
    assert themes.names == model.topic_names_
    for topic in range(len(themes)):
        assert np.allclose(themes.probabilities(topic), components[topic], rtol=1e-4)


@pytest.mark.parametrize("name", ["PLSA", "LDA"])
@pytest.mark.parametrize("relevance", [0.0, 0.3, 0.6, 1.0])
def test_relevance_is_what_its_definition_says(models, name, relevance):
    model, _ = models[name]
    everywhere = model.topic_shares_ @ np.asarray(model.components_, np.float64)
    number = {word: j for j, word in enumerate(model.vocabulary_)}
    for topic in range(3):
        found = views.relevant_words(model, topic, relevance, 1000)
        p = np.array([model.components_[topic, number[word.word]] for word in found], np.float64)
        lift = p / [everywhere[number[word.word]] for word in found]
        expected = relevance * np.log(p) + (1 - relevance) * np.log(lift)
        assert np.allclose([word.relevance for word in found], expected, atol=1e-4)
        assert np.allclose([word.lift for word in found], lift, rtol=1e-3)
        assert np.all(np.diff([word.relevance for word in found]) <= 0)


@pytest.mark.parametrize("name", EVERY)
def test_with_relevance_one_words_are_the_top_words(models, name):
    model, _ = models[name]
    themes = TopicView.of(model)
    expected = model.top_words(n=5)
    if name == "PolylingualLDA":
        expected = [of_topic["en"] for of_topic in expected]
    for topic in range(len(themes)):
        found = [word.probability for word in themes.relevant_words(topic, 1.0, 5, themes.main_language)]
        mine = [
            themes.probabilities(topic)[themes.numbers_of([word], themes.main_language or "")[0]] for word in expected[topic]
        ]
        assert np.allclose(found, mine)  # words that are equally probable may change places


def test_words_of_one_language_are_of_that_language(models):
    model, corpus = models["PolylingualLDA"]
    german = set(corpus.lexicon.only("de").words)
    for topic in range(3):
        assert {word.word for word in views.relevant_words(model, topic, 0.6, 50, "de")} <= german
    with pytest.raises(InputError, match="no language 'fr'"):
        views.relevant_words(model, 0, 0.6, 5, "fr")


def test_the_same_letters_in_two_languages_are_two_words():
    model = PolylingualLDA(2, random_state=0).fit([{"en": "war and peace", "de": "es war einmal"}] * 6)
    themes = TopicView.of(model)
    (english,), (german,) = themes.numbers_of(["war"], "en"), themes.numbers_of(["war"], "de")
    assert english != german
    assert themes.words[int(english)] == themes.words[int(german)] == "war"


def test_a_model_without_topics_says_so(corpus):
    with pytest.raises(InputError, match="LSA has no topics"):
        TopicView.of(LSA(2, random_state=0).fit(corpus))


# --- likeness and maps -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
def test_likeness_is_the_bhattacharyya_coefficient(models, name):
    model, _ = models[name]
    themes = TopicView.of(model)
    p = np.array([themes.probabilities(topic) for topic in range(len(themes))])
    if hasattr(model, "label_words_"):  # counts alone, without the prior
        known = model.label_words_
        p = np.zeros_like(p)
        p[known.labels, known.words()] = known.counts / known.sizes[known.labels]
    p /= p.sum(axis=1, keepdims=True)
    assert np.allclose(themes.likeness(np.arange(len(themes))), np.sqrt(p) @ np.sqrt(p).T, atol=1e-4)


def test_related_topics_are_others_most_like_first(models):
    model, _ = models["LabeledLDA"]
    themes = TopicView.of(model)
    for topic in range(len(themes)):
        found = views.related_topics(model, topic, 10)
        assert topic not in [other.topic for other in found]
        assert np.all(np.diff([other.similarity for other in found]) <= 0)


@pytest.mark.parametrize("name", EVERY)
def test_maps_lie_in_the_unit_square_and_are_the_same_every_time(models, name):
    model, _ = models[name]
    places = views.topic_map(model)
    assert places.shape == (len(model.topic_names_), 2)
    assert places.min() >= 0
    assert places.max() <= 1
    assert np.array_equal(places, views.topic_map(model))


def groups_of_topics(n=12, n_words=60):
    """Topics of two groups, which share words within each group only."""
    rng = np.random.default_rng(0)
    p = np.zeros((n, n_words))
    for topic in range(n):
        half = slice(0, n_words // 2) if topic % 2 else slice(n_words // 2, n_words)
        p[topic, half] = rng.dirichlet(np.full(n_words // 2, 0.5))
    shares = rng.dirichlet(np.ones(n))
    words = pl.Series([f"w{j}" for j in range(n_words)])
    names = [f"topic {k}" for k in range(n)]
    return TopicView("topics", names, [False] * n, shares, words, (), np.zeros(n_words, np.int32), Analyzer(), p)


def mean_distances(places):
    """Between topics of the same group, and of different groups."""
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    same = np.equal.outer(np.arange(len(places)) % 2, np.arange(len(places)) % 2)
    return apart[same & ~np.eye(len(places), dtype=bool)].mean(), apart[~same].mean()


def test_like_topics_lie_nearer_than_others():
    within, between = mean_distances(views.topic_map(groups_of_topics()))
    assert within < 0.7 * between


def test_topics_beyond_the_largest_find_their_places_among_them(monkeypatch):
    monkeypatch.setattr(maps, "MAX_LANDMARKS", 8)
    within, between = mean_distances(views.topic_map(groups_of_topics()))
    assert within < 0.7 * between


def test_many_topics_have_the_same_map_as_if_they_were_few(monkeypatch):
    themes = groups_of_topics(30)
    expected = views.topic_map(themes)
    monkeypatch.setattr(maps, "MAX_DENSE", 3)
    assert np.allclose(views.topic_map(themes), expected, atol=0.01)


def test_no_pair_of_circles_that_overlap_is_missed_or_found_twice():
    rng = np.random.default_rng(0)
    places, radii = rng.random((400, 2)), maps.map_radii(rng.pareto(1.0, 400))
    first, second = maps._near_pairs(places, radii)
    found = {(min(pair), max(pair)) for pair in zip(first.tolist(), second.tolist(), strict=True)}
    assert len(found) == len(first) < 400 * 399 / 8
    overlap = radii[:, None] + radii[None] > np.linalg.norm(places[:, None] - places[None], axis=2)
    assert {(i, j) for i, j in np.argwhere(overlap).tolist() if i < j} <= found


def test_circles_hardly_overlap():
    themes = groups_of_topics(60)
    places, radii = views.topic_map(themes), views.map_radii(themes.shares)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    overlap = radii[:, None] + radii[None] - apart
    np.fill_diagonal(overlap, 0.0)
    assert overlap.max() < 0.02


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_topics_have_a_map_too(n):
    themes = groups_of_topics(max(n, 1))
    few = TopicView(
        "topics",
        themes.names[:n],
        [False] * n,
        themes.shares[:n],
        themes.words,
        (),
        themes.of_word,
        Analyzer(),
        themes._known[:n],
    )
    assert views.topic_map(few).shape == (n, 2)


# --- documents -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
def test_every_model_tells_shares_of_documents_that_add_up(models, name):
    model, corpus = models[name]
    shares = DocumentShares.of(model, corpus)
    total = sum(shares.column(topic) for topic in range(len(shares.themes)))
    assert np.allclose(total, 1.0, atol=1e-4)
    assert shares.documents_of_topics.shape == (len(shares.themes),)
    for document in (0, 7):
        mixture = shares.mixture(document)
        assert np.all(np.diff([share for _, share in mixture]) <= 0)
        assert all(np.isclose(share, shares.column(topic)[document], atol=1e-3) for topic, share in mixture)


def test_documents_have_shares_of_their_own_labels_only(models):
    model, corpus = models["OnlineLabeledLDA"]
    shares = DocumentShares.of(model, corpus)
    for document in range(corpus.n_documents):
        assert {model.label_names_[topic] for topic, _ in shares.mixture(document)} <= set(corpus.labels[document])


@pytest.mark.parametrize("name", EVERY)
def test_typical_documents_are_those_of_the_topic(models, name):
    model, corpus = models[name]
    shares = DocumentShares.of(model, corpus)
    for topic in range(len(shares.themes)):
        found = views.typical_documents(model, shares, topic, 3)
        mine = shares.column(topic)
        assert all(np.isclose(one.share, mine[one.document]) and one.share > 0 for one in found)
        if name in ("PLSA", "LDA") and found:
            assert found[0].share > 0.8 * mine.max()


def test_a_short_document_is_less_typical_than_a_long_one():
    texts = ["cats cats purr purr sleep " * 8, "cats", "banks lend money stocks " * 8, "banks"] * 3
    model = PLSA(2, random_state=0).fit(corpus := Corpus.from_texts(texts))
    for topic in range(2):
        assert len(texts[views.typical_documents(model, corpus, topic, 1)[0].document]) > 10


def test_shares_of_a_model_whose_fit_was_watched_are_of_the_documents_it_learned_from(corpus):
    split = hold_out(corpus, 0.3, seed=5)
    model = LDA(3, random_state=0).fit(split.train, heldout=split.heldout)
    model.corpus_["split_from"] = split.facts()
    shares = DocumentShares.of(model, corpus)
    assert corpus.ids.gather(shares.numbers).to_list() == split.train.ids.to_list()
    learned = {int(number) for number in shares.numbers}
    for topic in range(3):
        for found in views.typical_documents(model, shares, topic, 30):
            assert found.document in learned
    new = next(number for number in range(corpus.n_documents) if number not in learned)
    assert np.isclose(sum(share for _, share in shares.mixture(new)), 1.0, atol=0.01)


def test_other_documents_are_folded_in(models):
    model, _ = models["LDA"]
    other = Corpus.from_texts([PETS, MONEY])
    shares = DocumentShares.of(model, other)
    assert np.allclose(np.stack([shares.column(topic) for topic in range(3)], axis=1), model.transform(other))


def test_titles_are_given_or_the_first_words_or_the_id(corpus):
    assert views.document_title(corpus, 1) == "title 1"
    assert views.document_title(corpus, 0) == "cats purr and dogs bark while cats sleep number0"
    assert views.document_title(Corpus.from_texts(["aa b c d e f g h i j k"]), 0) == "aa b c d e f g h i …"
    assert views.document_title(Corpus.from_tokens([["a"]], ids=["x"]), 0) == "x"


@pytest.mark.parametrize("name", EVERY)
def test_passages_mark_words_of_the_topic(models, name):
    model, corpus = models[name]
    themes = TopicView.of(model)
    for topic in range(len(themes)):
        for found in views.typical_documents(model, corpus, topic, 1):
            passage = views.passage_for(model, corpus, found.document, topic)
            words = [passage.text[mark.start : mark.end] for mark in passage.marks]
            language = themes.main_language or ""
            telling = themes.telling(topic)
            text_language, _ = views.find_text(corpus, found.document)
            numbers = themes.numbers_of(words, text_language if language else "")
            assert all(number >= 0 and telling[number] >= views.TELLING for number in numbers)


def test_the_passage_is_the_part_that_tells_most(models):
    model, _ = models["LDA"]
    corpus = Corpus.from_texts([f"{MONEY} {MONEY} {STARS} {MONEY}"])
    topic = int(model.transform([STARS]).argmax())
    passage = views.passage_for(model, corpus, 0, topic, n_words=10)
    assert passage.text.strip("… ").startswith("planets orbit stars")


def test_without_a_text_there_is_no_passage(models):
    model, _ = models["LDA"]
    assert views.passage_for(model, Corpus.from_tokens([["cats"]]), 0, 0) is None
    assert views.passage_for(model, Corpus.from_texts(["…", "cats"]), 0, 0) == Snippet("…")


# --- time ------------------------------------------------------------------------------------------------------------------


def test_share_over_time_is_the_mean_of_the_documents_of_each_period(models):
    model, corpus = models["LDA"]
    years = np.array([int(date[:4]) for date in corpus.documents["date"]])
    for topic in range(3):
        found = views.over_time(model, corpus, topic)
        assert [one.period for one in found] == [str(year) for year in range(1987, 1993)]
        for one in found:
            mine = years == int(one.period)
            assert one.documents == mine.sum()
            assert np.isclose(one.share, model.doc_topics_[mine, topic].mean())


@pytest.mark.parametrize(
    ("date", "day"),
    [
        ("26-FEB-1987 15:01:01.79", "1987-02-26"),
        ("1987-02-26T15:01", "1987-02-26"),
        ("19870226", "1987-02-26"),
        ("February 26, 1987", "1987-02-26"),
        ("3 March 1987", "1987-03-03"),
        ("Thu, 26 Feb 1987 15:01", "1987-02-26"),
    ],
)
def test_dates_are_read_as_people_write_them(date, day):
    dates = [date, "1987-02-01", "1987-02-02"]
    assert periods_of(pl.DataFrame({"date": dates}))[0] == day


def test_periods_are_as_fine_as_tells_something():
    years = [f"{year}-05-01" for year in range(1980, 1990)]
    months = [f"1987-{month:02}-01" for month in range(1, 11)]
    assert periods_of(pl.DataFrame({"date": years}))[0] == "1980"
    assert periods_of(pl.DataFrame({"date": months}))[0] == "1987-01"
    assert periods_of(pl.DataFrame({"year": ["1987", "1988", "1990", None]})).to_list() == ["1987", "1988", "1990", None]


@pytest.mark.parametrize("dates", [["soon", "late", "1987"], ["1987", "1987"], [None, None]])
def test_without_readable_dates_there_are_no_periods(dates):
    assert periods_of(pl.DataFrame({"date": pl.Series(dates, dtype=pl.String)})) is None
    assert periods_of(pl.DataFrame({"id": ["a"]})) is None


# --- where documents are ---------------------------------------------------------------------------------------------------


def test_documents_are_found_where_the_model_was_fitted_to_them(tmp_path):
    path = tmp_path / "corpus"
    Corpus.build(documents(), path=path)
    PLSA(2, random_state=0).fit(Corpus.open(path)).save(tmp_path / "model")
    model = load(tmp_path / "model")
    found, problem = views.find_corpus(model)
    assert found.n_documents == 30
    assert problem is None
    path.rename(tmp_path / "elsewhere")
    found, problem = views.find_corpus(model)
    assert found is None
    assert "no longer at" in problem
    assert "--corpus" in problem
    assert views.find_corpus(model, tmp_path / "elsewhere")[0].n_documents == 30


def test_a_table_of_documents_that_is_being_made_is_not_looked_into():
    said = []

    def ids():
        yield "a"
        if not said:  # as another thread may, meanwhile
            said.append(None)
            said[0] = explored.has("b")
        yield "b"

    corpus = SimpleNamespace(ids=SimpleNamespace(to_list=ids))
    explored = Snapshot(None, groups_of_topics(), SimpleNamespace(corpus=corpus), None)
    assert explored.has("a")
    assert said == [True]


def test_a_stream_has_no_documents_at_hand(models):
    model, _ = models["OnlineLabeledLDA"]
    found, problem = views.find_corpus(model)
    assert found is None
    assert "stream" in problem

"""Pictures for notebooks, and what notebooks show of models, corpora and search results."""

import builtins

import matplotlib as mpl
import numpy as np
import pytest
from sklearn import config_context

from semascope import LDA, PLSA, Corpus, Index, LabeledLDA, OnlineLabeledLDA, PolylingualLDA
from semascope.errors import InputError, MissingExtraError

mpl.use("Agg")

TEXTS = ["cats purr and dogs bark", "banks lend money", "cats sleep", "stocks rise when banks trade"] * 5
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def closed():
    """Close all figures after each test."""
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.fixture(scope="module")
def models():
    both = [{"en": text, "de": "katzen und hunde" if "cats" in text else "banken und geld"} for text in TEXTS]
    labels = [["pets"] if "cats" in text else ["money"] for text in TEXTS]
    return {
        "PLSA": PLSA(3, random_state=0).fit(TEXTS),
        "LDA": LDA(3, random_state=0).fit(TEXTS, heldout=TEXTS[:4]),
        "vb": LDA(3, inference="vb", random_state=0).fit(TEXTS),
        "PolylingualLDA": PolylingualLDA(3, random_state=0).fit(both),
        "LabeledLDA": LabeledLDA(max_iter=10, random_state=0).fit(TEXTS, labels),
        "OnlineLabeledLDA": OnlineLabeledLDA(2, random_state=0).partial_fit(TEXTS, labels),
    }


EVERY = ["PLSA", "LDA", "vb", "PolylingualLDA", "LabeledLDA", "OnlineLabeledLDA"]


def texts_of(axes):
    return [text.get_text() for text in axes.texts]


@pytest.mark.parametrize("name", EVERY)
def test_words_of_topics_are_drawn_largest_topic_first(models, name):
    model = models[name]
    panels = model.plot_topics(n_words=3)
    shares = [float(panel.get_title(loc="left").rsplit("· ", 1)[1].rstrip("%")) for panel in panels]
    assert len(panels) == len(model.topic_names_)
    assert shares == sorted(shares, reverse=True)
    for panel in panels:
        widths = [bar.get_width() for bar in panel.containers[0]]
        assert widths == sorted(widths, reverse=True)
        assert len(widths) == len(panel.get_yticklabels()) <= 3
    panels[0].figure.canvas.draw()


def test_topics_are_meant_by_number_or_name(models):
    model = models["LDA"].rename_topics({2: "pets"})
    (first, second) = model.plot_topics([1, "pets"], n_words=2)
    assert first.get_title(loc="left").startswith("topic 1")
    assert second.get_title(loc="left").startswith("pets")
    for missing in (3, -1, "birds"):
        with pytest.raises(InputError, match="no topic"):
            model.plot_topics(missing)


def test_one_language_is_drawn_the_first_unless_another_is_asked_for(models):
    model = models["PolylingualLDA"]
    german = {"katzen", "hunde", "und", "banken", "geld"}

    def of_panels(panels):
        return {label.get_text() for panel in panels for label in panel.get_yticklabels()}

    assert not of_panels(model.plot_topics()) & german
    assert of_panels(model.plot_topics(language="de")) <= german


@pytest.mark.parametrize("name", EVERY)
def test_the_map_has_a_circle_for_every_topic(models, name):
    axes = models[name].plot_map()
    assert len(axes.collections[0].get_offsets()) == len(models[name].topic_names_)
    assert texts_of(axes)
    axes.figure.canvas.draw()


@pytest.mark.parametrize("name", ["PLSA", "LDA", "vb", "PolylingualLDA", "LabeledLDA"])
def test_the_history_is_what_the_model_kept(models, name):
    model = models[name]
    axes = model.plot_history()
    kept = getattr(model, "elbo_", ()) or model.log_likelihood_
    assert np.allclose(axes.lines[0].get_ydata(), kept)
    assert axes.get_ylabel() == ("evidence lower bound" if name == "vb" else "log-likelihood")


def test_held_out_perplexity_is_drawn_on_an_axis_of_its_own(models):
    model = models["LDA"]
    axes = model.plot_history()
    right = next(one for one in axes.figure.axes if one is not axes)
    assert np.allclose(right.lines[0].get_ydata(), [step[2] for step in model.heldout_path_])
    assert right.get_ylabel() == "held-out perplexity, own prior"


def test_a_model_without_a_history_says_so(models):
    with pytest.raises(InputError, match="has no history"):
        models["OnlineLabeledLDA"].plot_history()


def test_pictures_are_drawn_where_one_wants_them(models):
    from matplotlib.figure import Figure

    axes = Figure().subplots(1, 3)
    model = models["LDA"]
    assert model.plot_map(ax=axes[0]) is axes[0]
    assert model.plot_history(ax=axes[1]) is axes[1]
    assert model.plot_topics(1, ax=axes[2])[0] is axes[2]
    with pytest.raises(InputError, match="2 topics to draw, but 3 axes"):
        model.plot_topics([0, 1], ax=axes)


def test_names_are_never_taken_for_mathematics(models):
    model = models["LDA"].rename_topics({0: r"$\frac{1}{"})
    model.plot_map().figure.canvas.draw()
    model.plot_topics()[0].figure.canvas.draw()


def test_without_matplotlib_one_sentence_says_what_to_install(models, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.split(".")[0] == "matplotlib":
            raise ImportError("No module named 'matplotlib'")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    for draw in (models["LDA"].plot_topics, models["LDA"].plot_map, models["LDA"].plot_history):
        with pytest.raises(MissingExtraError, match=r"pip install 'semascope\[plot\]'"):
            draw()


# --- what notebooks show ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
def test_a_fitted_model_shows_its_topics_below_what_scikit_learn_shows(models, name):
    model = models[name]
    shown = model._repr_mimebundle_()["text/html"]
    assert "sk-estimator" in shown
    for topic in model.topic_names_:
        assert f"<td>{topic}</td>" in shown
    assert model._repr_html_().count("<td>") == shown.count("<td>")


def test_a_model_that_is_not_fitted_shows_what_scikit_learn_shows():
    assert "<th>topic</th>" not in LDA(3)._repr_mimebundle_()["text/html"]


def test_scikit_learns_setting_for_plain_text_is_kept(models):
    with config_context(display="text"):
        assert "text/html" not in models["LDA"]._repr_mimebundle_()
        assert not hasattr(models["LDA"], "_repr_html_")


def test_text_in_what_is_shown_stays_text(models):
    named = models["LDA"].rename_topics({0: HOSTILE})
    corpus = Corpus.from_texts([HOSTILE, "cats"], ids=[HOSTILE, "b"], labels=[[HOSTILE], []])
    hits = Index.build(Corpus.from_texts([f"cats {HOSTILE}", "dogs"], ids=[HOSTILE, "b"], labels=[[HOSTILE], []])).search(
        "cats"
    )
    for shown in (named._repr_mimebundle_()["text/html"], corpus._repr_html_(), hits._repr_html_()):
        assert HOSTILE not in shown
        assert "&lt;script&gt;" in shown


def test_a_corpus_shows_its_size_and_first_documents():
    shown = Corpus.from_texts([{"en": "a cat", "de": "eine katze"}] * 7)._repr_html_()
    assert "7 documents" in shown
    assert "in en, de" in shown
    assert shown.count("<tr>") == 6
    assert "2 more" in shown


def test_search_results_are_a_list_that_shows_itself():
    index = Index.build(Corpus.from_texts(TEXTS))
    hits = index.search("cats")
    assert isinstance(hits, list)
    assert hits == list(hits)
    assert "<mark>cats</mark>" in hits._repr_html_()
    assert "Nothing was found" in index.search("zebra")._repr_html_()

"""Models judged: documents held out, a report on one model, a sweep over many."""

import math

import numpy as np
import pytest

from helpers import large_counts
from semascope import LDA, PLSA, Corpus
from semascope.errors import InputError
from semascope.model_selection import Suggestion, Trial, by_topics, hold_out, own_corpus, report, suggest, sweep


def trial(topics, perplexity, seed=0):
    return Trial(topics, seed, perplexity, 0.1 * topics, 0.9, 1.0, 50, "converged")


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_matrix(large_counts())


# --- documents held out ----------------------------------------------------------------------------------------------------


def test_the_same_documents_are_held_out_for_the_same_seed(corpus):
    first, again, other = (hold_out(corpus, 0.2, seed) for seed in (1, 1, 2))
    assert first.heldout.fingerprint == again.heldout.fingerprint != other.heldout.fingerprint
    assert len(first.train) + len(first.heldout) == len(corpus)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5, 7.0, math.nan])
def test_a_share_outside_0_and_1_is_refused(corpus, share):
    with pytest.raises(InputError, match=r"must lie between 0 and 1, but was .*\.$"):
        hold_out(corpus, share, 0)


def test_documents_must_be_left_on_both_sides():
    two = Corpus.from_texts(["one text", "another text"])
    with pytest.raises(InputError, match=r"^holding out a share of 0.1 of 2 documents leaves none to evaluate on.$"):
        hold_out(two, 0.1, 0)
    with pytest.raises(InputError, match="leaves none to train on"):
        hold_out(two, 0.9, 0)


# --- one model -------------------------------------------------------------------------------------------------------------


def test_a_report_says_what_the_documents_are_to_the_model(corpus):
    split = hold_out(corpus, 0.2, 1)
    model = PLSA(3, max_iter=5, random_state=0).fit(split.train)
    assert report(model, split.train).relation == "fitted to"
    assert report(model, corpus).relation == "others"
    model.corpus_["split_from"] = split.facts()
    told = report(model, corpus)
    assert (told.relation, told.documents) == ("held out", len(split.heldout))
    assert told.perplexity == model.perplexity(split.heldout, prior="own")
    assert told.perplexity_common == model.perplexity(split.heldout, prior="common") != told.perplexity
    assert report(model, split.heldout).relation == "others"


def test_a_report_has_the_numbers_that_the_model_gives():
    corpus = Corpus.from_texts(["cat dog bird", "dog cat", "bird cat dog", "tax law", "law tax bank", "bank law tax"] * 3)
    model = LDA(2, random_state=0, max_iter=10).fit(corpus)
    told = report(model, corpus, n_words=3)
    assert told.coherence == {m: model.coherence(corpus, m, 3).tolist() for m in ("npmi", "umass", "c_v")}
    assert told.diversity == model.diversity()
    assert told.windows == "110 words"
    of_counts = Corpus.from_matrix(np.eye(3) + 1, list("abc"))
    assert report(LDA(2, max_iter=2).fit(of_counts), of_counts).windows == "documents"


def test_a_model_that_knows_no_corpus_on_disk_says_so(corpus, tmp_path):
    model = PLSA(2, max_iter=2, random_state=0).fit(corpus)
    with pytest.raises(InputError, match="name a corpus"):
        own_corpus(model)
    corpus.save(tmp_path / "corpus")
    opened = Corpus.open(tmp_path / "corpus")
    assert own_corpus(model.fit(opened)).path == opened.path


# --- many models -----------------------------------------------------------------------------------------------------------


def test_a_sweep_gives_each_trial_as_it_is_finished(corpus):
    split = hold_out(corpus, 0.2, 1)
    made = []

    def make(**settings):
        made.append(settings)
        return PLSA(**settings, max_iter=3)

    running = sweep(make, split, [2, 4], seeds=[0, 1])
    first, model = next(running)
    assert made == [{"n_components": 2, "random_state": 0}]
    assert first.perplexity == model.perplexity(split.heldout, prior="own") != model.perplexity(split.heldout, prior="common")
    assert first.coherence == pytest.approx(model.coherence(split.train).mean())
    assert [(t.topics, t.seed) for t, _ in running] == [(2, 1), (4, 0), (4, 1)]


def test_more_topics_than_the_data_can_tell_apart_are_refused_before_the_first_fit(corpus):
    split = hold_out(corpus, 0.2, 1)
    with pytest.raises(InputError, match="use at most 480"):
        next(sweep(lambda **settings: pytest.fail("fitted"), split, [2, 5000], seeds=[0]))


def test_trials_of_several_seeds_are_averaged():
    assert by_topics([trial(4, 10.0), trial(2, 30.0), trial(4, 20.0, seed=1)]) == [(2, 30.0, 0.2), (4, 15.0, 0.4)]


@pytest.mark.parametrize(
    ("perplexities", "topics", "reason"),
    [
        ({10: 1500, 20: 1209, 50: 1200, 100: 1300}, 20, "the smallest number within 1% of the lowest held-out perplexity"),
        (
            {10: 1500, 20: 1100, 50: 1200},
            20,
            "the lowest held-out perplexity, 1,100, and no smaller number comes within 1% of it",
        ),
        ({10: 1500, 20: 1100}, 20, "more may be better still"),
        ({10: 1500}, 10, "no other number was tried"),
    ],
)
def test_the_smallest_number_of_topics_that_is_good_enough_is_suggested(perplexities, topics, reason):
    suggested = suggest([trial(k, p) for k, p in perplexities.items()])
    assert isinstance(suggested, Suggestion)
    assert suggested.topics == topics
    assert reason in suggested.reason


def test_a_suggestion_says_when_coherence_is_best_elsewhere():
    suggested = suggest([trial(10, 1100.0), trial(20, 1500.0)])  # the more topics, the more coherent
    assert suggested.reason.endswith("; the most coherent are 20")
    assert "coherent" not in suggest([trial(10, 1500.0), trial(20, 1100.0)]).reason

"""The service answers what pages and programs ask."""

import math
import subprocess
import sys

import pytest

import semascope
from semascope import LDA, load


def get(client, address, **asked):
    answer = client.get(address, params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def error_of(answer, status):
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert list(body) == ["error"]
    assert body["error"].endswith("."), "a sentence"
    return body["error"]


# --- facts ---------------------------------------------------------------------------------------------------------------


def test_health_tells_the_model_and_the_version(lda):
    assert get(lda, "/health") == {"status": "ok", "model": "LDA", "documents": 60, "version": semascope.__version__}


def test_about_tells_what_can_be_asked_for(lda, labeled):
    about = get(lda, "/api/about")
    assert (about["model"], about["kind"], about["title"], about["topics"]) == ("LDA", "topics", "lda", 3)
    assert (about["documents"], about["has_texts"], about["has_dates"], about["has_corpus"]) == (60, True, True, True)
    assert about["ways"] == ["hybrid", "bm25", "cosine", "lsa", "kl", "lda", "fisher"]
    assert (about["learns"], about["can_rename"], about["problem"]) == (False, True, None)
    about = get(labeled, "/api/about")
    assert (about["kind"], about["can_rename"], about["ways"]) == ("labels", False, ["hybrid", "bm25", "cosine", "lsa"])


@pytest.mark.parametrize("name", ["lda", "plsa", "polylingual", "labeled", "live"])
def test_every_kind_of_model_has_topics_on_a_map(fitted, serving, name):
    with serving(fitted / name) as client:
        topics = get(client, "/api/topics")["topics"]
        model = load(fitted / name)
        assert sorted(topic["name"] for topic in topics) == sorted(model.topic_names_)
        assert [topic["share"] for topic in topics] == sorted((topic["share"] for topic in topics), reverse=True)
        assert math.isclose(sum(topic["share"] for topic in topics), 1, abs_tol=1e-5)
        assert all(0 <= topic[axis] <= 1 for topic in topics for axis in "xy")
        assert all(topic["words"] for topic in topics if topic["share"] > 0.01)
        for topic in topics:
            assert get(client, f"/api/topics/{topic['topic']}")["name"] == topic["name"]


def test_what_is_seen_before_the_model_is_loaded_is_what_is_seen_after(fitted, serving):
    with serving(fitted / "lda", wait=False) as client:
        first = get(client, "/api/topics")
        get(client, "/api/topics/0")  # waits until all is loaded
        assert get(client, "/health")["status"] == "ok"
        assert get(client, "/api/topics") == first


def test_directories_are_known_without_what_takes_long_to_import():
    heavy = "[name for name in ('sklearn', 'numba', 'scipy') if name in sys.modules]"
    script = f"import sys, semascope.explorer.app; print({heavy})"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip() == "[]"


# --- topics --------------------------------------------------------------------------------------------------------------


def test_a_topic_has_words_documents_times_and_relations(lda):
    topic = get(lda, "/api/topics/0", n=5, relevance=1)
    assert topic["words"] == sorted(topic["words"], key=lambda word: -word["probability"])[:5]
    assert topic["documents"][0]["share"] > 0.5
    text, marks = topic["documents"][0]["passage"]["text"], topic["documents"][0]["passage"]["marks"]
    marked = {text[mark["start"] : mark["end"]] for mark in marks}
    assert marked <= {word["word"] for word in get(lda, "/api/topics/0", n=200)["words"]}
    assert [moment["period"] for moment in topic["over_time"]] == ["1987", "1988", "1989", "1990"]
    assert sum(moment["documents"] for moment in topic["over_time"]) == 60
    assert {other["topic"] for other in topic["related"]} <= {1, 2}


def test_relevance_goes_from_frequent_words_to_distinctive_ones(lda):
    by_frequency, by_lift = get(lda, "/api/topics/0", relevance=1), get(lda, "/api/topics/0", relevance=0)
    for word in by_frequency["words"]:
        assert math.isclose(word["relevance"], math.log(word["probability"]))
    assert [word["lift"] for word in by_lift["words"]] == sorted((word["lift"] for word in by_lift["words"]), reverse=True)


def test_a_topic_has_words_in_each_language(fitted, serving):
    with serving(fitted / "polylingual") as client:
        topic = get(client, "/api/topics/0", language="de")
        assert set(topic["languages"]) == {"en", "de"}
        assert {word["word"] for word in topic["words"]} <= {"katzen", "und", "hunde", "aktien", "anleihen"}
        assert "'fr'" in error_of(client.get("/api/topics/0?language=fr"), 404)


def test_a_topic_that_is_not_there_is_not_found(lda):
    assert "from 0 to 2" in error_of(lda.get("/api/topics/3"), 404)


def test_a_name_is_kept_with_the_model(fitted, serving, tmp_path):
    load(fitted / "lda").save(tmp_path / "model")
    with serving(tmp_path / "model") as client:
        answer = client.put("/api/topics/1/name", json={"name": "pets"})
        assert (answer.status_code, answer.json()["name"], answer.json()["named"]) == (200, "pets", True)
        assert load(tmp_path / "model").topic_names_ == ["topic 0", "pets", "topic 2"]
        named = {topic["topic"]: topic["name"] for topic in get(client, "/api/topics")["topics"]}
        assert named[1] == "pets"
        assert "two topics" in error_of(client.put("/api/topics/2/name", json={"name": "pets"}), 409)
        assert "surrounding whitespace" in error_of(client.put("/api/topics/2/name", json={"name": " "}), 409)
        assert client.put("/api/topics/1/name", json={"name": None}).json()["name"] == "topic 1"
        assert load(tmp_path / "model").topic_names_[1] == "topic 1"


def test_labels_keep_their_names(labeled):
    assert "labels cannot be renamed" in error_of(labeled.put("/api/topics/0/name", json={"name": "x"}), 409)


# --- documents -----------------------------------------------------------------------------------------------------------


def test_documents_are_listed_page_by_page(lda):
    first, second = get(lda, "/api/documents", limit=2), get(lda, "/api/documents", offset=2, limit=2)
    ids = [document["id"] for document in first["documents"] + second["documents"]]
    assert (first["total"], ids) == (60, ["doc0", "doc1", "doc2", "doc/3"])
    assert first["documents"][0]["share"] is None
    assert get(lda, "/api/documents", offset=60)["documents"] == []


def test_documents_of_a_topic_come_with_most_of_it_first(lda):
    page = get(lda, "/api/documents", topic=0, limit=100)
    shares = [document["share"] for document in page["documents"]]
    assert shares == sorted(shares, reverse=True)
    assert page["total"] == len(shares) < 60
    assert error_of(lda.get("/api/documents?topic=9"), 404)


def test_a_title_is_the_field_or_the_first_words(lda):
    titles = [document["title"] for document in get(lda, "/api/documents", limit=2)["documents"]]
    assert titles[0].startswith("The ")
    assert titles[0].endswith(" …")
    assert titles[1] == "Number 1"


@pytest.mark.parametrize("name", ["lda", "labeled"])
def test_every_known_word_of_a_document_has_a_topic(request, name):
    client = request.getfixturevalue(name)
    document = get(client, "/api/documents/doc0")
    (text,) = document["texts"]
    found = [text["text"][word["start"] : word["end"]].lower() for word in text["words"]]
    assert found == [word for word in text["text"].lower().rstrip(".").split() if word != "the"] or found[0] == "the"
    assert all(0 < word["weight"] <= 1 for word in text["words"])
    assert {word["topic"] for word in text["words"]} <= {topic["topic"] for topic in document["topics"]}
    assert document["labels"] == ["animals"]
    assert document["fields"] == {"date": "1987-01-11"}
    assert len(document["similar"]) == 6
    assert all(other["id"] != "doc0" and 0 <= other["similarity"] <= 1.0001 for other in document["similar"])


def test_words_of_a_labeled_document_are_due_to_its_labels(labeled):
    document = get(labeled, "/api/documents/doc1")
    names = {topic["name"] for topic in document["topics"]}
    assert names <= {"money", "background 1"}


def test_ids_may_hold_anything(lda):
    assert get(lda, "/api/documents/doc/3")["id"] == "doc/3"
    assert get(lda, "/api/documents/doc%2F3")["id"] == "doc/3"
    assert "no document" in error_of(lda.get("/api/documents/none"), 404)


def test_a_document_has_its_texts_in_all_languages(fitted, serving):
    with serving(fitted / "polylingual") as client:
        document = get(client, "/api/documents/0")
        assert [(text["language"], len(text["words"])) for text in document["texts"]] == [("en", 3), ("de", 3)]


# --- search --------------------------------------------------------------------------------------------------------------


def test_search_tells_what_and_why(lda):
    found = get(lda, "/api/search", q="a bank and its loans or a loan", k=3)
    assert (found["by"], found["state"], len(found["hits"])) == ("hybrid", "ready", 3)
    hit = found["hits"][0]
    assert set(hit["why"]["words"]) <= {"bank", "loan"}
    assert hit["why"]["words"]
    assert hit["why"]["topics"]
    marked = {
        hit["snippet"]["text"][mark["start"] : mark["end"]] for mark in hit["snippet"]["marks"] if mark["kind"] == "match"
    }
    assert marked <= {"bank", "loan"}
    assert marked


@pytest.mark.parametrize("way", ["hybrid", "bm25", "cosine", "lsa", "kl", "lda", "fisher"])
def test_every_way_to_search_finds_something(lda, way):
    assert get(lda, "/api/search", q="bank", by=way)["hits"]


def test_search_takes_a_label_or_a_document_in_place_of_words(lda):
    hits = get(lda, "/api/search", q="dog", by="lsa", label="money", k=100)["hits"]
    assert all(int(hit["id"].replace("/", "")[3:]) % 2 for hit in hits)
    like = get(lda, "/api/search", like="doc1", k=5)["hits"]
    assert "doc1" not in {hit["id"] for hit in like}
    assert all(hit["why"]["words"] for hit in like)
    assert error_of(lda.get("/api/search?like=none"), 404)


def test_nothing_is_found_where_there_is_nothing_to_look_for(lda):
    for query in ("", "  ", "zzz", "?"):
        assert get(lda, "/api/search", q=query)["hits"] == []


def test_an_index_of_labels_has_no_topics_to_search_by(labeled):
    assert "requires an index with topics" in error_of(labeled.get("/api/search?q=dog&by=lda"), 409)


# --- new texts -----------------------------------------------------------------------------------------------------------


def test_a_text_has_topics_as_the_model_tells_them(lda, fitted):
    text = "A dog and a cat, and a bird; unknown words."
    found = lda.post("/api/infer", json={"text": text}).json()
    expected = load(fitted / "lda").transform([text])[0]
    assert found["known_words"] == 3
    assert [text[word["start"] : word["end"]] for word in found["words"]] == ["dog", "cat", "bird"]
    assert found["topics"][0]["topic"] == expected.argmax()
    assert math.isclose(found["topics"][0]["share"], expected.max(), rel_tol=1e-5)
    assert found["labels"] == []


def test_a_text_has_labels_as_the_model_tells_them(labeled, fitted):
    found = labeled.post("/api/infer", json={"text": "a bank and a loan"}).json()
    assert [label["label"] for label in found["labels"] if label["predicted"]] == load(fitted / "labeled").predict(
        ["bank loan"]
    )[0]
    assert found["labels"][0]["label"] == "money"
    assert found["labels"][0]["probability"] > 0.3


def test_a_text_without_known_words_has_no_topics(lda):
    for text in ("", "zzz", "\u0000", "🙂"):
        assert lda.post("/api/infer", json={"text": text}).json()["topics"] == []


def test_a_text_for_a_model_of_several_languages_says_its_own(fitted, serving):
    with serving(fitted / "polylingual") as client:
        assert "en, de" in error_of(client.post("/api/infer", json={"text": "Hunde"}), 400)
        found = client.post("/api/infer", json={"text": "die Hunde", "language": "de"}).json()
        assert [word["word"] for word in found["words"]] == ["Hunde"]


def test_a_model_without_words_cannot_read_texts(serving, tmp_path):
    LDA(2, random_state=0).fit([[3, 1, 0], [2, 2, 0], [0, 0, 4]]).save(tmp_path / "model")
    with serving(tmp_path / "model") as client:
        assert "without a vocabulary" in error_of(client.post("/api/infer", json={"text": "x"}), 400)
        assert get(client, "/api/about")["problem"]
        assert get(client, "/api/documents") == {"total": 0, "documents": []}
        assert get(client, "/api/search", q="x")["state"] == "no"


# --- streams -------------------------------------------------------------------------------------------------------------


def test_what_is_posted_is_learned_for_good(fitted, serving, wait_for, tmp_path):
    load(fitted / "live").save(tmp_path / "live")
    with serving(tmp_path / "live", learn=True) as client:
        assert get(client, "/api/about")["learns"]
        before = get(client, "/api/stream")
        assert (before["documents"], before["learns"], before["new_labels"]) == (20, True, [])
        new = {"documents": [{"text": "a train to Rome", "labels": ["travel"]}, {"text": "trains", "labels": []}]}
        assert client.post("/api/stream", json=new).json() == {"learned": 2}
        told = get(client, "/api/stream")
        assert (told["documents"], told["new_labels"]) == (22, ["travel"])
        assert told["perplexity"] > 1
        assert told["recent"][-1]["documents"] == 22
        wait_for(lambda: "travel" in {topic["name"] for topic in get(client, "/api/topics")["topics"]})
        assert "a zero character" in error_of(client.post("/api/stream", json={"documents": [{"text": "\0"}]}), 400)
    model = load(tmp_path / "live")
    assert model.n_documents_seen_ == 22
    assert "train" in model.top_words("travel")


def test_a_server_learns_only_when_it_was_told_to(fitted, serving):
    with serving(fitted / "live") as client:
        assert "--learn" in error_of(client.post("/api/stream", json={"documents": [{"text": "x"}]}), 403)
        assert get(client, "/api/stream")["heaviest"][0]["words"]

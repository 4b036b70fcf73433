"""What goes wrong around the explorer is answered with a sentence, and is over when its cause is."""

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import httpx
import pytest

from semascope import LDA, LSA, Corpus, OnlineLabeledLDA, load
from semascope.errors import FormatError, InputError
from semascope.explorer.errors import UnavailableError
from semascope.explorer.server import Settings, address_of, serve
from semascope.explorer.service.context import Pool
from semascope.explorer.service.learner import Learner
from semascope.explorer.service.reloader import version_of
from semascope.streaming.durable import DurableStream, open_stream


def refuse(**settings):
    """What is said of settings with which nothing can be served."""
    with pytest.raises((InputError, FormatError)) as said:
        serve(Settings(**settings), lambda address: None)
    return str(said.value)


# --- starting ------------------------------------------------------------------------------------------------------------


def test_a_port_in_use_is_told(fitted):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        said = refuse(model=fitted / "lda", port=port)
    assert said == f"port {port} is already in use; choose another one with --port."


def test_an_address_that_is_not_ours_is_told(fitted):
    assert "no address '203.0.113.1'" in refuse(model=fitted / "lda", host="203.0.113.1", port=0)
    assert "no address 'no.such.name.invalid'" in refuse(model=fitted / "lda", host="no.such.name.invalid", port=0)


def test_what_is_no_model_is_refused_before_anything_is_served(fitted, tmp_path):
    assert "no such directory" in refuse(model=tmp_path / "none", port=0)
    assert "corpus" in refuse(model=fitted / "corpus", port=0)
    LSA(2).fit(Corpus.open(fitted / "corpus")).save(tmp_path / "lsa")
    assert "LSA, which has no topics to explore" in refuse(model=tmp_path / "lsa", port=0)


def test_only_a_model_that_learns_from_streams_can_learn(fitted):
    assert "LDA, which does not learn" in refuse(model=fitted / "lda", learn=True, port=0)


def test_a_token_must_fit_into_an_address(fitted):
    assert "--token" in refuse(model=fitted / "lda", token="a b", port=0)
    assert "--token" in refuse(model=fitted / "lda", token="", port=0)


def test_the_address_to_open_has_the_token():
    assert address_of("127.0.0.1", 8000, None) == "http://127.0.0.1:8000/"
    assert address_of("::1", 80, "abc") == "http://[::1]:80/?token=abc"


# --- documents -----------------------------------------------------------------------------------------------------------


def test_a_corpus_that_was_moved_away_is_told_and_found_again(serving, build, wait_for, tmp_path):
    LDA(2, random_state=0).fit(build(tmp_path / "corpus")).save(tmp_path / "model")
    (tmp_path / "corpus").rename(tmp_path / "elsewhere")
    with serving(tmp_path / "model") as client:
        about = client.get("/api/about").json()
        assert not about["has_corpus"]
        assert re.search(r"no longer at .*corpus; name .*--corpus\.", about["problem"])
        assert client.get("/api/topics/0").json()["documents"] == []
        assert client.get("/api/documents/doc0").status_code == 404
        assert client.get("/api/search?q=dog").json() == {"query": "dog", "by": "hybrid", "hits": [], "state": "no"}
        assert client.post("/api/infer", json={"text": "dog"}).json()["known_words"] == 1
        (tmp_path / "elsewhere").rename(tmp_path / "corpus")
        wait_for(lambda: client.get("/api/about").json()["problem"] is None)
        assert client.get("/api/documents/doc0").status_code == 200


def test_another_place_of_the_corpus_can_be_named(serving, build, tmp_path):
    LDA(2, random_state=0).fit(build(tmp_path / "corpus")).save(tmp_path / "model")
    (tmp_path / "corpus").rename(tmp_path / "elsewhere")
    with serving(tmp_path / "model", corpus=tmp_path / "elsewhere") as client:
        assert client.get("/api/documents/doc0").status_code == 200
    with serving(tmp_path / "model", corpus=tmp_path / "nowhere") as client:
        assert "no such directory" in client.get("/api/about").json()["problem"]


def test_a_corpus_that_goes_while_it_is_served_stays_open(serving, build, wait_for, tmp_path):
    LDA(2, random_state=0).fit(build(tmp_path / "corpus")).save(tmp_path / "model")
    with serving(tmp_path / "model") as client:
        wait_for(lambda: client.get("/api/about").json()["can_search"] == "ready")
        shutil.rmtree(tmp_path / "corpus")
        time.sleep(1.2)
        assert client.get("/api/documents/doc0").json()["texts"]
        assert client.get("/api/search?q=dog").json()["hits"]


def test_documents_that_the_model_does_not_know_have_topics_too(fitted, serving, build, tmp_path):
    records = [{"id": "new", "text": "dog dog dog cat", "labels": []}, {"id": "newer", "text": "bank bank loan", "labels": []}]
    build(tmp_path / "others", records)
    with serving(fitted / "lda", corpus=tmp_path / "others") as client:
        assert client.get("/api/documents").json()["total"] == 2
        assert client.get("/api/documents/new").json()["topics"][0]["share"] > 0.5


def test_an_index_beside_the_model_is_used(fitted, serving, wait_for, tmp_path):
    from semascope import Index

    load(fitted / "lda").save(tmp_path / "model")
    part = Corpus.open(fitted / "corpus").filter(range(10))
    Index.build(part, path=tmp_path / "model.index")
    with serving(tmp_path / "model") as client:
        wait_for(lambda: client.get("/api/about").json()["can_search"] == "ready")
        assert len(client.get("/api/search?q=dog bank&k=100").json()["hits"]) <= 10
        assert "fisher" not in client.get("/api/about").json()["ways"]


# --- the model changes -----------------------------------------------------------------------------------------------------


def test_a_model_that_is_rewritten_is_taken_up_and_nobody_notices(fitted, serving, wait_for, tmp_path):
    corpus, target = Corpus.open(fitted / "corpus"), tmp_path / "model"
    models = [LDA(n, random_state=0, max_iter=5).fit(corpus).rename_topics({0: f"one of {n}"}) for n in (2, 4)]
    models[0].save(target)
    stop = Event()

    def rewrite():
        while not stop.is_set():
            for model in models:
                model.save(target)
                time.sleep(0.15)

    with serving(target) as client:
        writer = Thread(target=rewrite)
        writer.start()
        try:
            seen, n_rounds = set(), 0
            while n_rounds < 20 or seen != {2, 4}:
                n_rounds += 1
                assert n_rounds < 2000, "one version is never seen"
                answer = client.get("/api/topics")
                assert answer.status_code == 200, answer.text
                topics = answer.json()["topics"]
                assert f"one of {len(topics)}" in {topic["name"] for topic in topics}, "of one version"
                seen.add(len(topics))
                for address in ("/api/topics/1", "/api/documents/doc0", "/api/documents?topic=1", "/api/search?q=dog"):
                    assert client.get(address).status_code == 200, address
        finally:
            stop.set()
            writer.join()
        wait_for(lambda: len(client.get("/api/topics").json()["topics"]) == 4)


def test_a_model_that_is_gone_is_told_and_found_again(fitted, serving, wait_for, tmp_path):
    load(fitted / "lda").save(tmp_path / "model")
    with serving(tmp_path / "model") as client:
        (tmp_path / "model").rename(tmp_path / "away")
        wait_for(lambda: client.get("/health").json()["status"] == "missing")
        answer = client.get("/api/topics")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert "no longer exists" in answer.json()["error"]
        (tmp_path / "away").rename(tmp_path / "model")
        wait_for(lambda: client.get("/api/topics").status_code == 200)
        assert client.get("/health").json()["status"] == "ok"


def test_a_model_that_is_damaged_while_it_is_served_is_told(fitted, serving, wait_for, tmp_path):
    load(fitted / "lda").save(tmp_path / "model")
    with serving(tmp_path / "model") as client:
        manifest = tmp_path / "model" / "manifest.json"
        good = manifest.read_text()
        manifest.write_text(good.replace('"topic_names"', '"tropic_names"'))
        wait_for(lambda: client.get("/api/topics").status_code == 503)
        assert "altered" in client.get("/api/topics").json()["error"]
        manifest.write_text(good)
        wait_for(lambda: client.get("/api/topics").status_code == 200)


def test_a_name_is_given_to_the_model_as_it_is_on_disk(fitted, serving, tmp_path):
    model = load(fitted / "lda")
    model.save(tmp_path / "model")
    with serving(tmp_path / "model") as client:
        model.rename_topics({2: "by another process"}).save(tmp_path / "model")
        assert client.put("/api/topics/0/name", json={"name": "here"}).status_code == 200
    assert load(tmp_path / "model").topic_names_ == ["here", "topic 1", "by another process"]


def test_names_that_many_give_at_once_are_all_kept(fitted, serving, tmp_path):
    load(fitted / "lda").save(tmp_path / "model")
    with serving(tmp_path / "model") as client, ThreadPoolExecutor(3) as people:

        def name(topic):
            return client.put(f"/api/topics/{topic}/name", json={"name": f"name {topic}"}).status_code

        assert list(people.map(name, range(3))) == [200] * 3
    assert load(tmp_path / "model").topic_names_ == ["name 0", "name 1", "name 2"]


def test_versions_of_a_directory_differ(fitted, tmp_path):
    load(fitted / "plsa").save(tmp_path / "model")
    before = version_of(tmp_path / "model")
    load(fitted / "plsa").save(tmp_path / "model")
    assert None not in (before, version_of(tmp_path / "model"))
    assert before != version_of(tmp_path / "model")
    assert version_of(tmp_path / "none") is None


# --- many ask --------------------------------------------------------------------------------------------------------------


def test_too_many_at_once_are_sent_away(fitted, serving):
    with serving(fitted / "lda", pool=Pool(max_waiting=0)) as client:
        answer = client.get("/api/topics/0")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert "too many" in answer.json()["error"]
        assert client.get("/health").json()["status"] == "ok"


def test_learning_and_reading_do_not_get_into_each_others_way(fitted, serving, tmp_path):
    load(fitted / "live").save(tmp_path / "live")
    with serving(tmp_path / "live", learn=True) as client, ThreadPoolExecutor(6) as people:

        def post(number):
            text = {"text": f"train number{number} to rome", "labels": [f"label {number % 7}"]}
            return client.post("/api/stream", json={"documents": [text]}).json()["learned"]

        def read(number):
            addresses = ("/api/topics", "/api/topics/0", "/api/stream", "/api/about")
            codes = [client.get(address).status_code for address in addresses]
            codes.append(client.post("/api/infer", json={"text": "a train to rome"}).status_code)
            return set(codes)

        learned, seen = people.map(post, range(300)), people.map(read, range(60))
        assert sum(learned) == 300
        assert set.union(*seen) == {200}
    assert load(tmp_path / "live").n_documents_seen_ == 320


def posted(learner, text):
    return learner.learn([{"text": text, "labels": ["travel"]}])


def test_whoever_goes_away_before_the_answer_does_not_stop_learning(fitted, tmp_path, monkeypatch):
    load(fitted / "live").save(tmp_path / "live")
    asked, go_on, learn = Event(), Event(), DurableStream.learn

    def slowly(stream, *given):
        asked.set()
        go_on.wait()
        return learn(stream, *given)

    monkeypatch.setattr(DurableStream, "learn", slowly)
    learner = Learner(tmp_path / "live")

    async def two_of_whom_go_away():
        first = asyncio.create_task(posted(learner, "a train to rome"))
        await asyncio.to_thread(asked.wait)
        second = asyncio.create_task(posted(learner, "a bus to rome"))
        while learner._posted.empty():
            await asyncio.sleep(0.01)
        for gone in (first, second):
            gone.cancel()
        await asyncio.wait([first, second])
        go_on.set()
        return await asyncio.wait_for(posted(learner, "a boat to rome"), 20)

    learner.start()
    try:
        assert asyncio.run(two_of_whom_go_away()) == 1
    finally:
        go_on.set()
        learner.close()
    assert load(tmp_path / "live").n_documents_seen_ == 22  # the first was begun, the second was not, the third stayed


def test_a_post_of_no_documents_is_answered_too(fitted, tmp_path):
    load(fitted / "live").save(tmp_path / "live")
    learner = Learner(tmp_path / "live")
    learner.start()
    try:
        assert asyncio.run(asyncio.wait_for(learner.learn([]), 20)) == 0
    finally:
        learner.close()


def test_an_error_that_nobody_expected_is_told_rather_than_waited_for(fitted, tmp_path, monkeypatch):
    load(fitted / "live").save(tmp_path / "live")
    monkeypatch.setattr(DurableStream, "learn", lambda *given: 1 / 0)
    told = []
    learner = Learner(tmp_path / "live", failed=told.append)
    learner.start()
    with pytest.raises(UnavailableError, match="division by zero"):
        asyncio.run(posted(learner, "a train to rome"))
    learner.close()
    with pytest.raises(UnavailableError, match="division by zero"):
        asyncio.run(posted(learner, "a bus to rome"))
    assert [type(error) for error in told] == [ZeroDivisionError]


def test_a_model_that_another_process_learns_is_not_learned_here(fitted, serving, tmp_path):
    load(fitted / "live").save(tmp_path / "live")
    with open_stream(tmp_path / "live", OnlineLabeledLDA), serving(tmp_path / "live", learn=True, wait=False) as client:
        answer = client.post("/api/stream", json={"documents": [{"text": "x"}]})
        assert answer.status_code == 503
        assert "only one can at a time" in answer.json()["error"]


# --- as a process ----------------------------------------------------------------------------------------------------------


def start(*arguments):
    """Start the command; gives it and the address that it prints."""
    command = [sys.executable, "-m", "semascope", "explore", "--no-open", "--port", "0", *map(str, arguments)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    line = process.stderr.readline()
    found = re.search(r"http://\S+", line)
    assert found, line + process.stderr.read()
    return process, found.group()


def test_the_command_says_in_one_sentence_why_it_cannot_serve(fitted):
    with socket.create_server(("127.0.0.1", 0)) as other:
        command = [sys.executable, "-m", "semascope", "explore", str(fitted / "lda"), "--port", str(other.getsockname()[1])]
        ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 1
    assert re.fullmatch(r"semascope: port \d+ is already in use; choose another one with --port\.\n", ended.stderr)


def test_the_command_serves_until_it_is_interrupted(fitted):
    process, address = start(fitted / "lda")
    try:
        assert len(httpx.get(address + "api/topics", timeout=180).json()["topics"]) == 3
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert "server stopped" in process.stderr.read()
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_other_addresses_have_a_token_made(fitted):
    process, address = start(fitted / "lda", "--host", "0.0.0.0")
    try:
        token = re.search(r"token=([\w-]{20,})$", address).group(1)
        port = re.search(r":(\d+)/", address).group(1)
        here = f"http://127.0.0.1:{port}/health"
        assert httpx.get(here, timeout=180).status_code == 401
        assert httpx.get(here, timeout=180, headers={"Authorization": f"Bearer {token}"}).status_code == 200
    finally:
        process.terminate()
        process.wait()
        process.stderr.close()


def test_nothing_that_was_acknowledged_is_lost_when_the_server_is_killed(fitted, tmp_path):
    load(fitted / "live").save(tmp_path / "live")
    process, address = start(tmp_path / "live", "--learn")
    acknowledged = 0
    try:
        with httpx.Client(base_url=address, timeout=180) as client:
            until = None
            for number in range(100_000):
                body = json.dumps({"documents": [{"text": f"word{number} of a train", "labels": ["travel"]}] * 3})
                answer = client.post("/api/stream", content=body, headers={"Content-Type": "application/json"})
                acknowledged += answer.json()["learned"]
                until = until or time.monotonic() + 1.0
                if time.monotonic() > until:
                    break
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stderr.close()
    with open_stream(tmp_path / "live", OnlineLabeledLDA) as stream:
        assert stream.model.n_documents_seen_ == 20 + acknowledged
        assert acknowledged > 0

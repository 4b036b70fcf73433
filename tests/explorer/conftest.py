"""What the tests of the explorer share: small models of each kind, and a client of a server for them."""

import random
import socket
import time
from contextlib import contextmanager
from threading import Thread

import httpx
import pytest
import uvicorn

from browsing import a_browser, opened
from semascope import LDA, PLSA, Corpus, LabeledLDA, OnlineLabeledLDA, PolylingualLDA
from semascope.explorer.app import make_app
from semascope.explorer.service.context import Pool, Service
from semascope.explorer.service.learner import Learner
from semascope.explorer.service.reloader import Keeper

ANIMALS = ["cat", "dog", "horse", "bird", "fish"]
MONEY = ["tax", "bank", "loan", "stock", "coin"]
PATIENCE = 180.0
"""Seconds to wait for what may have to be compiled first, on a busy machine."""
HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)">'


def documents(n=60):
    """Documents on two subjects; some have a title, a date, or something in it that must not run."""
    chance = random.Random(0)
    for number in range(n):
        words = MONEY if number % 2 else ANIMALS
        yield {
            "id": f"doc/{number}" if number % 10 == 3 else f"doc{number}",
            "text": f"The {' '.join(chance.choices(words, k=20))}.",
            "labels": ["money" if number % 2 else "animals"] + ([HOSTILE] if number == 5 else []),
            "title": HOSTILE if number == 4 else f"Number {number}" if number % 3 else None,
            "date": f"{1987 + number % 4}-0{1 + number % 9}-11",
        }


def build(path, records=None):
    """Make a corpus on disk."""
    import polars as pl

    return Corpus.build(pl.DataFrame(list(records or documents())), path=path)


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """A folder with a corpus and a model of each kind, not to be changed."""
    home = tmp_path_factory.mktemp("explored")
    corpus = build(home / "corpus")
    LDA(3, random_state=0, max_iter=20).fit(corpus).save(home / "lda")
    PLSA(2, random_state=0).fit(corpus).save(home / "plsa")
    LabeledLDA(random_state=0, max_iter=10, background=1).fit(corpus).save(home / "labeled")
    texts = [{"en": "cats and dogs", "de": "Katzen und Hunde"}, {"en": "stocks and bonds", "de": "Aktien und Anleihen"}] * 6
    both = Corpus.from_texts(texts)
    both.save(home / "both")
    PolylingualLDA(2, random_state=0).fit(Corpus.open(home / "both")).save(home / "polylingual")
    live = OnlineLabeledLDA(random_state=0)
    for record in documents(20):
        live.partial_fit(record["text"], record["labels"])
    live.save(home / "live")
    return home


@contextmanager
def listening(app):
    """A server for an application, on a port of its own; gives its address."""
    with socket.create_server(("127.0.0.1", 0)) as place:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none", lifespan="on", timeout_graceful_shutdown=2))
        thread = Thread(target=server.run, kwargs={"sockets": [place]}, daemon=True)
        thread.start()
        try:
            wait_for(lambda: server.started or not thread.is_alive())
            yield f"http://127.0.0.1:{place.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            assert not thread.is_alive(), "the server does not stop"


@contextmanager
def serving(model, *, corpus=None, index=None, learn=False, host="127.0.0.1", token=None, wait=True, pool=None):
    """A client of a server for a model, once that is loaded."""
    service = Service(Keeper(model, corpus, index), Learner(model, corpus, index) if learn else None, pool or Pool())
    with listening(make_app(service, host, token)) as address, httpx.Client(base_url=address, timeout=PATIENCE) as client:
        if wait:
            known = {"Authorization": f"Bearer {token}"} if token else {}
            wait_for(lambda: client.get("/health", headers=known).json().get("status") == "ok")
        yield client


def wait_for(is_so, seconds=PATIENCE):
    """Wait until something is so."""
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)


@pytest.fixture(scope="session")
def lda(fitted):
    """A client of a server for an LDA model, with an index."""
    with serving(fitted / "lda") as client:
        wait_for(lambda: client.get("/api/about").json()["can_search"] == "ready")
        yield client


@pytest.fixture(scope="session")
def labeled(fitted):
    """A client of a server for a model of labels."""
    with serving(fitted / "labeled") as client:
        wait_for(lambda: client.get("/api/about").json()["can_search"] == "ready")
        yield client


@pytest.fixture(name="serving", scope="session")
def serving_fixture():
    return serving


@pytest.fixture(name="wait_for", scope="session")
def wait_for_fixture():
    return wait_for


@pytest.fixture(name="build", scope="session")
def build_fixture():
    return build


@pytest.fixture(scope="module")
def browser():
    with a_browser() as browser:
        yield browser


@pytest.fixture
def page(browser, lda):
    with opened(browser, lda) as page:
        yield page

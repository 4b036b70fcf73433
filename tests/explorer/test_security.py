"""The explorer is safe by default: who may ask, how much, and nothing that documents hold can run."""

import asyncio
import json
import socket
import time
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
import pytest

from semascope import LDA, load
from semascope.explorer import app as pages
from semascope.explorer.security import MAX_BYTES, Guard, is_loopback

HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)">'


@pytest.fixture(scope="module")
def guarded(fitted, serving):
    """A client of a server that others could reach, which needs a token."""
    with serving(fitted / "lda", host="0.0.0.0", token="open-sesame") as client:
        yield client


# --- who asks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example", "", "@"]
)
def test_other_names_that_lead_here_are_refused(lda, host):
    for address in ("/", "/health", "/api/topics"):
        answer = lda.get(address, headers={"Host": host})
        assert answer.status_code in (400, 403)
        assert "topics" not in answer.text


@pytest.mark.parametrize("host", ["localhost", "localhost:9000", "127.0.0.1", "[::1]:8000"])
def test_names_of_this_machine_are_answered(lda, host):
    assert lda.get("/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost.evil.example", "file://", "http://[", ""])
def test_pages_of_other_sites_are_refused(lda, origin):
    for method, address in (("GET", "/api/topics"), ("PUT", "/api/topics/0/name"), ("POST", "/api/infer")):
        answer = lda.request(method, address, headers={"Origin": origin}, json={"name": "taken"})
        assert (answer.status_code, answer.json()["error"]) == (403, "Forbidden: cross-origin requests are not allowed.")


def test_its_own_page_is_answered(lda):
    own = str(lda.base_url).rstrip("/")
    assert lda.post("/api/infer", json={"text": "dog"}, headers={"Origin": own}).status_code == 200
    other_port = {"Origin": "http://127.0.0.1:1"}
    assert lda.post("/api/infer", json={"text": "dog"}, headers=other_port).status_code == 403


def test_forms_of_other_pages_cannot_post(lda):
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        assert lda.post("/api/infer", content='{"text": "dog"}', headers={"Content-Type": kind}).status_code == 422


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("127.9.9.9", True), ("0.0.0.0", False), ("example.org", False)],
)
def test_only_addresses_of_this_machine_alone_need_no_token(host, expected):
    assert is_loopback(host) == expected


# --- tokens --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shown", ["x", "open", "open-sesame-", "OPEN-SESAME", "ö"])
def test_nothing_is_told_without_the_token(guarded, shown):
    with httpx.Client(base_url=guarded.base_url) as stranger:
        headers = {"Authorization": f"Bearer {shown}".encode()}
        for address in ("/", "/health", "/api/topics", "/api/openapi.json", "/static/app.js", f"/api/topics?token={shown}"):
            answer = stranger.get(address, headers=headers)
            assert answer.status_code == 401, address
            assert answer.headers["www-authenticate"] == "Bearer"
            assert "set-cookie" not in answer.headers


def test_programs_show_the_token_in_a_header(guarded):
    headers = {"Authorization": "Bearer open-sesame", "Host": "a-machine.example"}
    assert guarded.get("/api/topics", headers=headers).status_code == 200


def test_browsers_show_the_token_once_and_have_a_cookie_then(guarded):
    with httpx.Client(base_url=guarded.base_url) as browser:
        answer = browser.get("/api/documents?limit=1&token=open-sesame")
        assert (answer.status_code, answer.headers["location"]) == (303, "/api/documents?limit=1")
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert browser.get(answer.headers["location"]).json()["total"] == 60


def test_a_token_does_not_send_browsers_to_other_sites(guarded):
    host, port = guarded.base_url.host, guarded.base_url.port
    with socket.create_connection((host, port)) as raw:
        raw.sendall(b"GET //evil.example/?token=open-sesame HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = b"".join(iter(lambda: raw.recv(4096), b"")).decode()
    (location,) = [line.split(": ", 1)[1] for line in answer.splitlines() if line.lower().startswith("location")]
    assert urlsplit(location).netloc == ""


# --- how much ------------------------------------------------------------------------------------------------------------


def test_bodies_have_a_limit(lda):
    text = {"text": "dog " * (MAX_BYTES // 4)}
    assert lda.post("/api/infer", json=text).status_code == 413

    def parts():
        for _ in range(40):
            yield b" " * (1 << 16)

    with suppress(httpx.TransportError):  # it may no longer listen when the rest is sent
        assert lda.post("/api/infer", content=parts(), headers={"Content-Type": "application/json"}).status_code == 413
    assert lda.get("/health").status_code == 200


@pytest.mark.parametrize(
    "address",
    [
        "/api/search?q=" + "a" * 1001, "/api/search?q=a&k=101", "/api/search?q=a&k=0", "/api/documents?limit=101",
        "/api/documents?offset=-1", "/api/topics/0?n=201", "/api/topics/0?relevance=nan", "/api/topics/0?relevance=2",
        "/api/topics/-1", "/api/topics/99999999999999999999", "/api/topics/x", "/api/search?q=a&by=magic",
        "/api/documents/" + "a" * 1001,
    ],
)  # fmt: skip
def test_questions_have_limits(lda, address):
    answer = lda.get(address)
    assert answer.status_code == 422
    assert answer.json()["error"].count("\n") == 0


def test_addresses_have_a_limit(lda):
    assert lda.get("/api/search?q=" + "a" * 60_000).status_code == 400


def test_what_is_no_json_is_refused(lda):
    for body in (
        b"",
        b"{",
        b"\xff\xff",
        b'{"text": 1}',
        b"[]",
        b'{"text": "\\ud800"}',
        b"[" * 100_000,
        b'{"text": "a", "b": 1}',
    ):
        answer = lda.post("/api/infer", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code in (400, 422), body[:20]
        assert list(answer.json()) == ["error"]


def test_whoever_sends_slowly_holds_up_nobody(lda):
    lda.post("/api/infer", json={"text": "dog"})  # nothing is left to be compiled
    url = urlsplit(str(lda.base_url))
    slow = []
    for _ in range(50):
        raw = socket.create_connection((url.hostname, url.port))
        raw.sendall(f"POST /api/infer HTTP/1.1\r\nHost: {url.netloc}\r\nContent-Length: 100\r\n\r\n{{".encode())
        slow.append(raw)
    began = time.monotonic()
    assert lda.post("/api/infer", json={"text": "dog"}).status_code == 200
    assert time.monotonic() - began < 5
    for raw in slow:
        raw.close()


def test_nobody_works_for_those_who_have_gone():
    stopped = []

    async def app(scope, receive, send):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            stopped.append(scope)
            raise

    async def ask():
        messages = iter([{"type": "http.request", "body": b"", "more_body": False}, {"type": "http.disconnect"}])
        scope = {"type": "http", "method": "GET", "raw_path": b"/", "query_string": b"", "headers": [(b"host", b"localhost")]}

        async def receive():
            await asyncio.sleep(0)
            return next(messages)

        await Guard(app, "127.0.0.1")(scope, receive, None)
        await asyncio.sleep(0)

    asyncio.run(asyncio.wait_for(ask(), 10))
    assert stopped


# --- files ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/../../../etc/passwd", "/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static/", "/static",
        "/static//etc/passwd", "/manifest.json", "/api/documents/../../manifest.json", "/static/__init__.py",
        "/static/app.js%00",
    ],
)  # fmt: skip
def test_no_path_from_the_network_reaches_the_disk(lda, path):
    url = urlsplit(str(lda.base_url))
    with socket.create_connection((url.hostname, url.port)) as raw:  # as it is: clients tidy paths up
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: {url.netloc}\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: raw.recv(65536), b"")).decode()
    assert answer.split()[1] in ("404", "400"), answer
    assert "root:" not in answer
    assert "import" not in answer


def test_the_page_is_served_with_what_it_needs(lda):
    answer = lda.get("/")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    for path in pages.HERE.iterdir():
        if path.name != pages.FIRST:
            found = lda.get(f"/static/{path.name}")
            assert (found.status_code, found.content) == (200, path.read_bytes())
            again = lda.get(f"/static/{path.name}", headers={"If-None-Match": found.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")


def test_the_page_needs_no_other_site_and_no_script_of_its_own_text(lda):
    page = lda.get("/").text
    assert "http://" not in page
    assert "https://" not in page
    assert " style=" not in page
    assert "onclick" not in page
    assert page.count("<script") == page.count('<script type="module" src="static/')


# --- what documents hold ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address", ["/", "/health", "/api/topics", "/nothing", "/api/topics/x", "/static/app.js", "/api/openapi.json"]
)
def test_browsers_are_told_to_run_nothing_else(lda, address):
    headers = lda.get(address).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert policy["style-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers


def test_hostile_titles_labels_and_words_are_only_ever_json(lda, labeled):
    answers = [lda.get("/api/documents?limit=10"), lda.get("/api/documents/doc4"), lda.get("/api/search?q=dog&k=100")]
    answers += [labeled.get("/api/topics"), labeled.get("/api/documents/doc5"), labeled.get("/api/search?q=" + HOSTILE)]
    answers += [lda.get("/api/documents/" + HOSTILE), lda.put("/api/topics/0/name", json={"name": HOSTILE * 10})]
    for answer in answers:
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert HOSTILE in json.dumps(answers[1].json(), ensure_ascii=False).replace('\\"', '"')
    assert any(topic["name"] == HOSTILE for topic in answers[3].json()["topics"])


def test_hostile_words_stay_words(serving, tmp_path):
    import scipy.sparse as sp

    from semascope import Corpus

    counts = sp.csr_matrix([[2, 1, 0, 0], [3, 1, 0, 0], [0, 0, 2, 2], [0, 0, 1, 4]])
    words = [HOSTILE, "</script>", "\u2028", "javascript:alert(1)"]
    Corpus.from_matrix(counts, words, ids=[f"</script>{number}" for number in range(4)]).save(tmp_path / "corpus")
    LDA(2, random_state=0).fit(Corpus.open(tmp_path / "corpus")).save(tmp_path / "model")
    with serving(tmp_path / "model") as client:
        told = {word for topic in client.get("/api/topics").json()["topics"] for word in topic["words"]}
        assert told == set(words)
        assert client.get("/api/documents/%3C/script%3E0").json()["id"] == "</script>0"
        assert "no texts" in client.get("/api/about").json()["problem"]
        assert client.put("/api/topics/0/name", json={"name": HOSTILE}).status_code == 200
    assert load(tmp_path / "model").topic_names_[0] == HOSTILE

"""The service keeps to its OpenAPI description, whatever it is asked."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode

from semascope import load

TOO_LARGE = 413
EXAMPLES = 25
"""Of each route, as described and otherwise."""


@pytest.fixture(scope="module")
def description(fitted, serving, wait_for, tmp_path_factory):
    """The description of a server that may rename topics."""
    model = tmp_path_factory.mktemp("named") / "model"
    load(fitted / "lda").save(model)
    with serving(model) as client:
        wait_for(lambda: client.get("/api/about").json()["can_search"] == "ready")
        yield schemathesis.openapi.from_url(f"{client.base_url}/api/openapi.json")


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_every_answer_is_as_described(description, mode):
    for found in description.get_all_operations():
        operation = found.ok()
        if mode.is_negative and not (operation.body or operation.query or operation.path_parameters):
            continue  # there is nothing that could be wrong

        @settings(
            max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case):
            answer = case.call(timeout=180)
            if answer.status_code != TOO_LARGE:  # which is said before anybody looks at what is wrong with it
                case.validate_response(answer)

        ask()


def test_every_route_has_an_example_and_says_what_can_go_wrong(lda):
    described = lda.get("/api/openapi.json").json()
    assert set(described["paths"]) == {
        "/health", "/api/about", "/api/topics", "/api/topics/{topic}", "/api/topics/{topic}/name", "/api/documents",
        "/api/documents/{id}", "/api/search", "/api/infer", "/api/stream",
    }  # fmt: skip
    for path in described["paths"].values():
        for route in path.values():
            assert {"200", "422", "503"} <= set(route["responses"])
            name = route["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            assert described["components"]["schemas"][name]["examples"], name

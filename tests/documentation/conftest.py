"""The demo corpus, read once: most pages begin with it, and its sources take seconds to parse."""

from functools import cache

import pytest

from semascope.corpus.readers import standard_library as stdlib


@pytest.fixture(scope="session", autouse=True)
def sources_parsed_once():
    parse = stdlib._docstrings
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stdlib, "_docstrings", cache(lambda path, root: list(parse(path, root))))
        yield

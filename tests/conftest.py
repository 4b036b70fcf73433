"""What many tests share."""

import pytest

from helpers import large_counts
from semascope import Corpus


@pytest.fixture(scope="session")
def corpus_path(tmp_path_factory):
    """A saved corpus of several shards."""
    path = tmp_path_factory.mktemp("corpus") / "corpus"
    Corpus.from_matrix(large_counts()).save(path)
    return path

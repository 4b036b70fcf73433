"""Every exception and warning of the package.

    SemascopeError
    ├── InputError(ValueError)          the data or a setting cannot be used; the sentence says which and why
    │   └── SourceError                 a source could not be read; the sentence names file and line
    ├── FormatError(ValueError)         a directory on disk is not what was expected
    ├── MissingExtraError(ImportError)  an optional package is needed; the sentence says what to install
    └── TaskError(RuntimeError)         a cluster gave up a task; the sentence says why, and where its log is

    UserWarning
    ├── InterruptedFitWarning           Ctrl-C ended a fit early; the model so far was kept
    ├── MissingWordsWarning             some words of a prior cannot be used; the sentence names them
    └── ExpectedCountsWarning           priors are learned from expected counts, which is biased

Examples
--------
>>> import semascope as ss
>>> try:
...     ss.read("nowhere.csv")
... except ss.errors.SourceError as error:
...     print(error)
nowhere.csv: no such file.
"""

from __future__ import annotations


class SemascopeError(Exception):
    """The root of everything the package raises on purpose."""


class InputError(SemascopeError, ValueError):
    """The data or a setting cannot be used."""


class SourceError(InputError):
    """A source of documents could not be read."""


class FormatError(SemascopeError, ValueError):
    """A directory on disk is not what was expected."""


class MissingExtraError(SemascopeError, ImportError):
    """An optional package is needed."""


class TaskError(SemascopeError, RuntimeError):
    """A cluster gave up a task that failed again and again."""


class InterruptedFitWarning(UserWarning):
    """Ctrl-C ended a fit early; the model so far was kept."""


class ExpectedCountsWarning(UserWarning):
    """Priors are learned from expected counts, since counts that are not whole cannot be sampled; alpha comes out too large."""


class MissingWordsWarning(UserWarning):
    """Some words of a prior cannot be used: the vocabulary does not have them, or their entry in a file says too much."""

"""Every exception and warning of the package.

    SemascopeError
    ├── InputError(ValueError)          invalid data or parameter; the message names it and the reason
    │   └── SourceError                 unreadable source; the message names file and line
    ├── FormatError(ValueError)         unexpected contents of a directory on disk
    ├── MissingExtraError(ImportError)  missing optional package; the message names what to install
    └── TaskError(RuntimeError)         failed cluster task; the message names the reason and the log

    UserWarning
    ├── InterruptedFitWarning           fit interrupted by Ctrl-C; the model so far is kept
    ├── MissingWordsWarning             unusable words in a prior; the message names them
    └── ExpectedCountsWarning           priors estimated from expected counts, which is biased

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
    """Base class of all exceptions of the package."""


class InputError(SemascopeError, ValueError):
    """Invalid data or parameter."""


class SourceError(InputError):
    """Source of documents that cannot be read."""


class FormatError(SemascopeError, ValueError):
    """Directory on disk with unexpected contents."""


class MissingExtraError(SemascopeError, ImportError):
    """Missing optional package."""


class TaskError(SemascopeError, RuntimeError):
    """Cluster task that failed on every attempt."""


class InterruptedFitWarning(UserWarning):
    """Fit interrupted by Ctrl-C; the model so far is kept."""


class ExpectedCountsWarning(UserWarning):
    """Priors estimated from expected counts, as fractional counts cannot be sampled; alpha comes out too large."""


class MissingWordsWarning(UserWarning):
    """Unusable words in a prior: missing from the vocabulary, or with an invalid entry in a file."""

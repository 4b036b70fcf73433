"""Imports from scikit-learn, without the packages that it loads but hardly uses.

`sklearn.utils.fixes` imports scipy.stats for one function, and pandas for none, which takes two thirds of the import time of
scikit-learn. Meanwhile placeholders replace both and load the real modules on attribute access. They are removed from
`sys.modules` afterwards, so that no other code sees them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

DEFERRED = ("pandas", "scipy.stats")


class DeferredModule(ModuleType):
    """Placeholder that imports a module on attribute access."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


@contextmanager
def deferred(*names: str) -> Iterator[None]:
    """Defer imports of modules that are installed and not yet loaded."""
    placeholders = {name: DeferredModule(name) for name in names if name not in sys.modules and find_spec(name)}
    sys.modules.update(placeholders)
    try:
        yield
    finally:
        for name, placeholder in placeholders.items():
            if sys.modules.get(name) is placeholder:
                del sys.modules[name]


with deferred(*DEFERRED):
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
    from sklearn.utils import ClassifierTags, check_random_state
    from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierTags",
    "TransformerMixin",
    "check_is_fitted",
    "check_non_negative",
    "check_random_state",
    "clone",
    "validate_data",
]

"""What estimators take from scikit-learn, imported without the packages that it loads and hardly ever uses.

`sklearn.utils.fixes` imports scipy.stats for one function, and pandas for none: two thirds of the time that the import of
scikit-learn takes. Meanwhile placeholders stand for both, and load the real modules when an attribute is asked for. Nobody
else meets them: they are taken out of `sys.modules` again.
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
    """Stands for a module that is imported when one of its attributes is asked for."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


@contextmanager
def deferred(*names: str) -> Iterator[None]:
    """Have imports of some modules load nothing yet; those that are loaded, or not installed, are left alone."""
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

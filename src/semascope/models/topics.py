"""Topics as people handle them: by name, and by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from semascope.models.editing import Merge, Plan, Topic, edited, plan_edit
from semascope.models.names import shown_names
from semascope.models.sklearn_imports import ClassNamePrefixFeaturesOutMixin, check_is_fitted

if TYPE_CHECKING:
    from numpy.typing import NDArray


_AT_ONCE = 512
"""Rows that are added up in single precision before their sum is taken further."""

_ROUNDING = 1e-4
"""What a sum may differ from one by. Most is of adding up: rounding entries changes it by a ten-millionth."""


def are_distributions(topics: NDArray[Any], languages: NDArray[np.int32] | None = None) -> bool:
    """Tell whether the words of each topic sum to one, in each language by itself.

    topics     float[v, k]
    languages  int32[v]     of the words; None if there is one
    """
    for language in [None] if languages is None else np.unique(languages):
        own = topics if language is None else topics[languages == language]
        sums = np.zeros(topics.shape[1])
        for first in range(0, len(own), _AT_ONCE):
            sums += own[first : first + _AT_ONCE].sum(axis=0)
        if np.abs(sums - 1).max() > _ROUNDING:
            return False
    return True


class NamedTopics(ClassNamePrefixFeaturesOutMixin):
    """Topics that have names and can be changed by hand.

    Every change gives a new model and leaves the old one as it was. A topic is meant by its number or its name. Settings stay
    those of the fit: fitting the new model again gives as many topics as before.
    """

    components_: NDArray[Any]
    _topic_names: Sequence[str | None] = ()
    """Names that were given to the first topics; None for a topic that has none."""

    @property
    def topic_names_(self) -> list[str]:
        """The names of the topics; "topic 3" for one without a name."""
        check_is_fitted(self, "components_")
        return shown_names(self._topic_names, len(self.components_))

    def rename_topics(self, names: Mapping[Topic, str | None]) -> Self:
        """Give a model whose topics have other names; None takes a name away.

        Examples
        --------
        >>> from semascope import PLSA
        >>> model = PLSA(2, random_state=0).fit(["cats purr", "dogs bark", "cats", "dogs"])
        >>> model.rename_topics({0: "pets"}).topic_names_
        ['pets', 'topic 1']
        """
        return edited(self, self._plan(rename=names))

    def merge_topics(self, topics: Sequence[Topic], *, name: str | None = None) -> Self:
        """Give a model with one topic in place of several.

        Its words are the mean of theirs by how common each is; its share of the corpus and of each document is the sum of
        theirs. It stands where the first of them stood, and the topics after move up.

        Parameters
        ----------
        topics : sequence of int or str
            The topics, two at least.
        name : str, optional
            What to call it; by default the name of the first in `topics` that has one.

        Examples
        --------
        >>> from semascope import PLSA
        >>> model = PLSA(3, random_state=0).fit(["cats purr", "dogs bark", "birds sing"])
        >>> model.merge_topics([0, 2], name="pets").topic_names_
        ['pets', 'topic 1']
        """
        return edited(self, self._plan(merge=[Merge(topics, name)]))

    def remove_topics(self, topics: Iterable[Topic]) -> Self:
        """Give a model without some topics; what they had of each document goes to the others in proportion.

        A document that had nothing else has what the whole corpus has of them. The topics after move up.

        Examples
        --------
        >>> from semascope import PLSA
        >>> model = PLSA(2, random_state=0).fit(["cats purr", "dogs bark", "cats", "dogs"])
        >>> model.remove_topics([1]).doc_topics_.tolist()
        [[1.0], [1.0], [1.0], [1.0]]
        """
        return edited(self, self._plan(remove=topics))

    def edit_topics(
        self,
        *,
        rename: Mapping[Topic, str | None] | None = None,
        merge: Sequence[Merge] = (),
        remove: Iterable[Topic] = (),
    ) -> Self:
        """Return a model whose topics are changed in several ways at once, each topic meant as it was before.

        Parameters
        ----------
        rename : dict of topic to str or None, optional
            As in `rename_topics`.
        merge : sequence of Merge
            Topics to put together, and what to call each group; as in `merge_topics`.
        remove : iterable of int or str
            As in `remove_topics`.

        Examples
        --------
        >>> from semascope import PLSA
        >>> model = PLSA(3, random_state=0).fit(["cats purr", "dogs bark", "birds sing"])
        >>> model.edit_topics(rename={0: "pets"}, remove=[1]).topic_names_
        ['pets', 'topic 1']
        """
        return edited(self, self._plan(rename=rename or {}, merge=merge, remove=remove))

    def _plan(self, **changes: Any) -> Plan:
        check_is_fitted(self, "components_")
        n_free = len(self.components_) - len(self._topic_names)
        return plan_edit([*self._topic_names, *[None] * n_free], **changes)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Give the names of the columns of `transform`: those of the topics, where any was given."""
        numbered: NDArray[np.object_] = super().get_feature_names_out(input_features)
        return np.array(self.topic_names_, dtype=object) if any(self._topic_names) else numbered

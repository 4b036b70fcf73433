"""Words of a text by Python's own regular expressions."""

import re
from collections import Counter


def count_words(texts, min_length=2, lowercase=True):
    """Counter of the words of each text."""
    pattern = re.compile(r"\w+")
    texts = [text.lower() if lowercase else text for text in texts]
    return [Counter(word for word in pattern.findall(text) if len(word) >= min_length) for text in texts]

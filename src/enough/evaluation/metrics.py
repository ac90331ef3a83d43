"""Metrics as pure functions of texts."""

from __future__ import annotations

import re
from collections import Counter

_WORDS = re.compile(r"[a-z0-9]+")


def rouge_1(answer: str, reference: str) -> float:
    """ROUGE-1 F: unigram overlap of lower-cased alphanumeric words, without stemming.

    >>> rouge_1("The quick fox", "the fox!")
    0.8
    """
    ours, theirs = (Counter(_WORDS.findall(text.lower())) for text in (answer, reference))
    shared = (ours & theirs).total()
    if shared == 0:
        return 0.0
    precision, recall = shared / ours.total(), shared / theirs.total()
    return 2 * precision * recall / (precision + recall)

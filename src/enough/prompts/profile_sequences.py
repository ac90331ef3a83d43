"""The many profiles of one request as sequences, joined from segments that are tokenised once.

In: an example and the records any of its profiles may hold, numbered by their place. Out: the
tokens of any profile of such numbers, at the price of one copy.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from enough.prompts.prompter import Prompter
from enough.protocols import ScoredSequence
from enough.records import Example, Record

Profile = tuple[int, ...]
"""An ordered profile: places of records in a list, no place twice."""


class ProfileSequences:
    """Sequences of one example's profiles."""

    def __init__(self, prompter: Prompter, example: Example, records: Sequence[Record]) -> None:
        head, lines, tail, reference = prompter.segments(example, records)
        self._head = head
        self._lines = lines
        self._end = np.concatenate([tail, reference])
        self.reference_length = len(reference)
        self.empty_tokens = len(head) + len(tail)
        self.record_tokens = tuple(map(len, lines))

    def sequence(self, profile: Profile) -> ScoredSequence:
        """Prompt with this profile, and the reference."""
        lines = [self._lines[place] for place in profile]
        return ScoredSequence(
            np.concatenate([self._head, *lines, self._end]), self.reference_length
        )

    def length(self, profile: Profile) -> int:
        """Tokens of the sequence."""
        fixed = len(self._head) + len(self._end)
        return fixed + sum(self.record_tokens[place] for place in profile)

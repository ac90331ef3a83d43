"""Which answers are written together: prompts padded to the longest, within a number of tokens.

In: the prompts of every answer, one or several. Out: batches of answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from enough.protocols import Tokens


def decoded_together(answers: Sequence[Sequence[Tokens]], room: int) -> Iterator[list[int]]:
    """Batches of answers, as places: `room` tokens with padding, or one answer that needs more.

    Long prompts come first, so what does not fit into memory fails at once.
    """
    widths = [max(map(len, prompts)) for prompts in answers]
    left = sorted(range(len(answers)), key=lambda place: -widths[place])
    while left:
        streams, count = 0, 0
        for place in left:
            streams += len(answers[place])
            if count and streams * widths[left[0]] > room:
                break
            count += 1
        yield left[:count]
        left = left[count:]

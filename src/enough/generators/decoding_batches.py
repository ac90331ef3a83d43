"""Which answers are written, and which together: prompts padded to the longest, within some tokens.

In: the prompts of every answer, one or several. Out: each prompt once; batches of answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from enough.errors import ModelError
from enough.protocols import Tokens


def distinct_prompts(prompts: Sequence[Tokens], max_new_tokens: int, window: int) -> list[Tokens]:
    """Every prompt once, in the order of their first places.

    Raises:
        ModelError: if one is empty, or does not fit the window together with its answer.
    """
    distinct = list({prompt.tobytes(): prompt for prompt in prompts}.values())
    for prompt in distinct:
        if not 0 < len(prompt) <= window - max_new_tokens:
            raise ModelError(
                f"a prompt of {len(prompt)} tokens and an answer of {max_new_tokens} do not fit a "
                f"window of {window}"
            )
    return distinct


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

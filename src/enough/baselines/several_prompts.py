"""One answer to several prompts of one record each: the shape of IC-RALM and REPLUG.

In: requests with their records and a steering, made anew for every answer. Out: `Answered`, or many
answers written together beforehand. One record or none is one plain prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from enough.baselines.tools import Tools
from enough.protocols import Answered, Steered, Steering
from enough.records import Record, Request


@dataclass(frozen=True, slots=True, eq=False)
class SeveralPrompts:
    """What is to be written.

    Attributes:
        request: what is asked.
        records: one for every prompt, the best first.
        steering: makes the rule that chooses the tokens.
        reason: why there are not more records.
    """

    request: Request
    records: tuple[Record, ...]
    steering: Callable[[], Steering]
    reason: str

    def answer(self, tools: Tools) -> Answered:
        """Write it."""
        if len(self.records) < 2:
            return tools.answer(self.request, self.records, self.reason)
        prompts = [tools.prompter.prompt(self.request, [record]) for record in self.records]
        steered = Steered([prompt.tokens for prompt in prompts], self.steering())
        (text,) = tools.generator.steer([steered], self.request.task.max_answer_tokens)
        tokens = sum(prompt.profile_tokens for prompt in prompts)
        return Answered(text, self.records, tokens, one_prompt=False, reason=self.reason)


def write_all(many: Sequence[SeveralPrompts], tools: Tools) -> None:
    """Have the generator write all these answers together; one that remembers knows them."""
    tools.write_together([(one.request, one.records) for one in many if len(one.records) < 2])
    by_room: dict[int, list[Steered]] = {}
    for one in many:
        if len(one.records) >= 2:
            prompts = [tools.prompter.prompt(one.request, [record]) for record in one.records]
            steered = Steered([prompt.tokens for prompt in prompts], one.steering())
            by_room.setdefault(one.request.task.max_answer_tokens, []).append(steered)
    for room, answers in by_room.items():
        tools.generator.steer(answers, room)

"""What comes back from one selection: records, prompt, tokens, and why it is these records.

In: the decisions of a policy on a pool. Out: values that hold no arrays, as a dictionary for JSON
(`as_dict`) or as text for people (`explain`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from enough.online.left_out import LeftOut
from enough.online.policy import Trace
from enough.records import Pool, Record, Request

PolicyName = Literal["controller", "untrained"]


@dataclass(frozen=True, slots=True)
class Value:
    """What one action was worth: taking a record, or STOP.

    Attributes:
        action: id of the record, or "STOP".
        parts: what the value is made of, named in `Selected.parts`; in the long run for a
            controller (the whole profile it leads to), of this one step for the fallback.
        net: the sum that was compared; None where the record may not be taken.
    """

    action: str
    parts: tuple[float | None, ...]
    net: float | None


@dataclass(frozen=True, slots=True)
class Decision:
    """One step.

    Attributes:
        records: values of the pool's records, in the order of the pool.
        stop: value of STOP.
        margin: net value of STOP less that of the best record; below 0 the record is taken.
        stop_probability: by the controller's temperature; None where nothing was calibrated.
        taken: id of the record that was appended; None for STOP.
    """

    records: tuple[Value, ...]
    stop: Value
    margin: float | None
    stop_probability: float | None
    taken: str | None


@dataclass(frozen=True, slots=True)
class Selected:
    """A profile, its prompt, and how it came about.

    Attributes:
        request: what was asked.
        records: in the order of the prompt; possibly none.
        prompt: the exact text for the model, in its own chat form.
        messages: the same for a chat interface: dictionaries of "role" and "content".
        tokens: what the profile adds to the prompt, exactly.
        prompt_tokens: all of the prompt.
        tokens_saved: what the retriever's first five records would have added, less `tokens`.
        policy: "controller", or "untrained" where nothing was learnt.
        reason: why it ended there.
        parts: names of what values are made of.
        trace: every decision.
        left_out: every record of the history that is not in the profile.
    """

    request: Request
    records: tuple[Record, ...]
    prompt: str
    messages: list[dict[str, str]]
    tokens: int
    prompt_tokens: int
    tokens_saved: int
    policy: PolicyName
    reason: str
    parts: tuple[str, ...]
    trace: tuple[Decision, ...]
    left_out: tuple[LeftOut, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON: finite numbers only, null for what has none."""
        return {
            "task": self.request.task.name,
            "request": self.request.id,
            "user": self.request.user,
            "policy": self.policy,
            "reason": self.reason,
            "tokens": self.tokens,
            "prompt_tokens": self.prompt_tokens,
            "tokens_saved": self.tokens_saved,
            "records": [
                {"id": r.id, "date": r.date, "context": r.context, "action": r.action}
                for r in self.records
            ],
            "left_out": [
                {"id": one.record.id, "why": one.why.value, "detail": one.detail}
                | {"below": None if one.below is None else finite(one.below)}
                for one in self.left_out
            ],
            "trace": [
                {
                    "taken": step.taken,
                    "margin": step.margin,
                    "stop_probability": step.stop_probability,
                    "stop": self._plain(step.stop),
                    "records": [{"id": one.action} | self._plain(one) for one in step.records],
                }
                for step in self.trace
            ],
            "messages": self.messages,
            "prompt": self.prompt,
        }

    def explain(self) -> str:
        """The same in a few lines for people."""
        from enough.online.explanation import explained  # noqa: PLC0415 (it reads this class)

        return explained(self)

    def _plain(self, value: Value) -> dict[str, float | None]:
        return dict(zip(self.parts, value.parts, strict=True)) | {"net": value.net}


def decisions(trace: Trace, pool: Pool) -> tuple[Decision, ...]:
    """A policy's steps as plain values."""
    names = [candidate.record.id for candidate in pool]
    found = []
    for step in trace.steps:
        values = step.values
        rows = zip(names, values.actions.tolist(), values.net.tolist(), strict=True)
        found.append(
            Decision(
                records=tuple(_value(name, parts, net) for name, parts, net in rows),
                stop=_value("STOP", values.stop.tolist(), values.net_stop),
                margin=finite(step.margin),
                stop_probability=finite(step.stop_probability),
                taken=None if step.taken is None else names[step.taken],
            )
        )
    return tuple(found)


def _value(action: str, parts: Sequence[float], net: float) -> Value:
    # With a single head the only part is the sum itself, but for a habit.
    shown = tuple(map(finite, parts)) if len(parts) > 2 else ()
    return Value(action, shown, finite(net))


def finite(number: float) -> float | None:
    """The number, or None for what JSON has no form for."""
    return float(number) if math.isfinite(number) else None

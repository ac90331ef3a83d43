"""A selection in words: step by step the best candidates and STOP, then what was left out and why.

In: a `Selected`. Out: text of a few lines, whatever the length of the history.
"""

from __future__ import annotations

from collections.abc import Sequence

from enough.online.left_out import LeftOut, Why
from enough.online.selected import Decision, Selected, Value

_SHOWN = 3  # candidates of a step, and records of a reason
_WIDTH = 24  # of an id


def explained(selected: Selected) -> str:
    """All of it."""
    saved = selected.tokens_saved
    compared = f"{abs(saved)} {'fewer' if saved >= 0 else 'more'} than the retriever's first five"
    count = len(selected.records)
    lines = [
        f"{_counted(count)}, {selected.tokens} tokens ({compared}): {selected.reason}",
        f"policy: {selected.policy}"
        + (" (nothing personal is learnt)" if selected.policy == "untrained" else ""),
    ]
    if selected.policy == "controller" and selected.trace:
        lines.append(
            "values: of the profile a choice is predicted to end in; cost 1 is 1,024 tokens"
        )
    for number, step in enumerate(selected.trace, start=1):
        lines += _step(number, step, selected.parts)
    for why in Why:
        if some := [one for one in selected.left_out if one.why is why]:
            lines.append(_reason(why, some))
    return "\n".join(lines)


def _step(number: int, step: Decision, parts: Sequence[str]) -> list[str]:
    open_to_it = [one for one in step.records if one.net is not None]
    best = sorted(open_to_it, key=lambda one: -(one.net or 0.0))[:_SHOWN]  # stable: pool order
    lines = [f"step {number}: " + ("stop" if step.taken is None else f"take {step.taken}")]
    lines += [f"  {_valued(one, parts)}" for one in best]
    chance = step.stop_probability
    known = "not calibrated" if chance is None else f"{chance:.0%}"
    margin = "–" if step.margin is None else f"{step.margin:+.3f}"
    return [
        *lines,
        f"  {_valued(step.stop, parts)}",
        f"  margin {margin}, stop probability {known}",
    ]


def _valued(value: Value, parts: Sequence[str]) -> str:
    named = [*zip(parts, value.parts, strict=True), ("net", value.net)]
    numbers = "  ".join(f"{name} {number:+.3f}" for name, number in named if number is not None)
    return f"{_short(value.action):<12} {numbers}"


def _reason(why: Why, some: Sequence[LeftOut]) -> str:
    if why is Why.BELOW_STOPPING:
        some = sorted(some, key=lambda one: one.below or 0.0)
    if why is Why.NOT_RETRIEVED:
        return f"left out, {some[0].detail}: {_counted(len(some))}"
    named = ", ".join(f"{_short(one.record.id)} ({one.detail})" for one in some[:_SHOWN])
    more = f" and {len(some) - _SHOWN} more" if len(some) > _SHOWN else ""
    return f"left out, {why.value}: {named}{more}"


def _counted(count: int) -> str:
    return f"{count} record" if count == 1 else f"{count} records"


def _short(name: str) -> str:
    line = " ".join(name.split())
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"

"""A decision laid open: the pool, weights of values, what was left out, the parts of the prompt.

In: a selection and what was known when it was made. Out: the dictionary the page shows. Whoever
gets it sees texts of records that were not selected, so it is for keys that may read.
"""

from __future__ import annotations

from typing import Any

from enough.data.leakage import Reason
from enough.online.finishing import Walked
from enough.online.left_out import LeftOut, Why
from enough.online.selected import Selected, finite
from enough.prompts.prompter import L_REF
from enough.records import Record
from enough.service.selecting import Asked, Selecting

_NOT_LEGAL = {
    Reason.TARGET: "itself",
    Reason.SOURCE_ID: "itself",
    Reason.NOT_EARLIER: "later",
    Reason.EXACT_DUPLICATE: "copy",
    Reason.NEAR_DUPLICATE: "copy",
}
_OTHERWISE = {
    Why.NOT_RETRIEVED: "pool",
    Why.DOES_NOT_FIT: "room",
    Why.BELOW_STOPPING: "not chosen",
    Why.HORIZON: "not chosen",
}
_OPENS, _CLOSES = "<USER_HISTORY>\n", "</USER_HISTORY>\n<CURRENT_REQUEST>\n"


def insight(
    selecting: Selecting, asked: Asked, selected: Selected, walked: Walked
) -> dict[str, Any]:
    """What a selection's own dictionary does not say."""
    return {
        "formula": _formula(selecting, asked, selected),
        "pool": [
            _shown(candidate.record) | {"score": finite(candidate.score), "tokens": tokens}
            for candidate, tokens in zip(walked.pool, walked.budget.record_tokens, strict=True)
        ],
        "left_out": _left_out(selected, walked),
        "prompt_parts": prompt_parts(selected),
        "fixed_tokens": selected.tokens + selected.tokens_saved,
        "max_records": walked.budget.max_records,
        "room": walked.budget.max_profile_tokens,
    }


def prompt_parts(selected: Selected) -> list[dict[str, str | None]]:
    """The prompt in pieces, each with the id of its record; None for what is not the profile's.

    A record is one line, and nothing in it can look like a delimiter: `prompts.escape` sees to it.
    """
    before, _, rest = selected.prompt.partition(_OPENS)
    lines, _, after = rest.partition(_CLOSES)
    parts: list[dict[str, str | None]] = [{"text": before + _OPENS, "record": None}]
    for line, record in zip(lines.split("\n")[:-1], selected.records, strict=True):
        parts.append({"text": f"{line}\n", "record": record.id})
    return [*parts, {"text": _CLOSES + after, "record": None}]


def _formula(selecting: Selecting, asked: Asked, selected: Selected) -> dict[str, Any]:
    """How parts make the net value: each times its weight, and a constant for every record."""
    if selected.policy == "untrained":
        own = selecting.untrained
        weights = {"relevance": 1.0, "repetition": -own.diversity, "cost": -own.price}
        return {"weights": weights, "constant": -own.least_relevance, "price": own.price} | _COST
    trained = selecting.trained
    assert trained is not None  # it has just decided
    price = trained.point.lambda_ if asked.lambda_ is None else asked.lambda_
    weights = {"gain": 1.0, "specificity": trained.point.beta, "cost": -price}
    if not trained.habit.is_plain:
        weights["habit"] = 1.0
    if trained.model.config.single_head:
        weights = {}  # its only value is the net one
    return {"weights": weights, "constant": 0.0, "price": price} | _COST


_COST = {"tokens_of_one_cost": L_REF}


def _left_out(selected: Selected, walked: Walked) -> list[dict[str, Any]]:
    removed = {one.record.id: one for one in walked.legal.removals}
    found = []
    for one in selected.left_out:
        kind, detail = _kind(one), one.detail
        if (removal := removed.get(one.record.id)) is not None and one.why is Why.NOT_LEGAL:
            kind, detail = _NOT_LEGAL[removal.reason], removal.detail
        below = None if one.below is None else finite(one.below)
        found.append(_shown(one.record) | {"kind": kind, "detail": detail, "below": below})
    return found


def _kind(one: LeftOut) -> str:
    return _OTHERWISE.get(one.why, "itself")


def _shown(record: Record) -> dict[str, Any]:
    return {
        "id": record.id,
        "date": record.date,
        "context": record.context,
        "action": record.action,
    }

"""From the decisions on a pool to what an app gets back.

In: a request, what was seen of its history, the pool and the trace of the decisions. Out:
`Selected`, with the exact prompt.
"""

from __future__ import annotations

from dataclasses import dataclass

from enough.data.leakage import LegalHistory
from enough.online.left_out import left_out
from enough.online.policy import Trace
from enough.online.selected import PolicyName, Selected, decisions
from enough.online.untrained import PARTS
from enough.prompts.prompter import Prompter
from enough.prompts.template import SYSTEM
from enough.protocols import Budget
from enough.records import History, Pool, Request

_COMPARED_WITH = 5  # records of a fixed-length profile, the usual choice
_COMPONENTS = ("gain", "specificity", "cost", "habit")


@dataclass(frozen=True, slots=True, eq=False)
class Walked:
    """All that was known when the profile was complete.

    Attributes:
        history: as it was given, or as far as it was looked at.
        legal: what the rules left of it.
        pool: the candidates.
        budget: what they cost and what may be spent.
        trace: the decisions.
    """

    history: History
    legal: LegalHistory
    pool: Pool
    budget: Budget
    trace: Trace


def finished(
    prompter: Prompter,
    request: Request,
    walked: Walked,
    policy: PolicyName,
    *,
    explained: bool = True,
) -> Selected:
    """The profile and its prompt; without `explained`, neither trace nor what was left out."""
    pool, trace = walked.pool, walked.trace
    own = {record.id: record for record in walked.history}  # as they were given
    records = tuple(own[pool[place].record.id] for place in trace.profile)
    whole, profile = prompter.sizes(request, records)
    text = prompter.text(request, records)
    found = decisions(trace, pool) if explained else ()
    parts = PARTS if policy == "untrained" else _COMPONENTS
    count = len(found[0].stop.parts) if found else 0
    return Selected(
        request=request,
        records=records,
        prompt=text,
        messages=_messages(prompter, text),
        tokens=profile,
        prompt_tokens=whole,
        tokens_saved=_fixed_tokens(walked.budget) - profile,
        policy=policy,
        reason=trace.reason,
        parts=parts[:count],
        trace=found,
        left_out=left_out(walked.history, walked.legal, pool, walked.budget, trace)
        if explained
        else (),
    )


def _messages(prompter: Prompter, text: str) -> list[dict[str, str]]:
    before, after = prompter.frame
    content = text.removeprefix(before).removesuffix(after)
    if before.endswith(f"{SYSTEM}\n\n"):  # a model without a system role
        return [{"role": "user", "content": f"{SYSTEM}\n\n{content}"}]
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": content}]


def _fixed_tokens(budget: Budget) -> int:
    """What the pool's first five records would add; one that does not fit whole is passed over."""
    count, spent = 0, 0
    for tokens in budget.record_tokens:
        if count < _COMPARED_WITH and spent + tokens <= budget.max_profile_tokens:
            count, spent = count + 1, spent + tokens
    return spent

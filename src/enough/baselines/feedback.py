"""What records are worth to the frozen generator: the supervision of every trained baseline.

In: lessons (a request, its pool, its reference) or whole profiles of them. Out: one number for each
record or profile, higher is better. "likelihood" is the mean log-likelihood of the reference with
the profile in the prompt less that of the empty profile. "metric" generates an answer and takes the
task's leading metric in [0, 1]; that is what ROPG and RSPG do, one generation for every record. The
likelihood is the default because it costs one forward pass and is never tied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from enough.baselines.feedback_metrics import leading_metric
from enough.baselines.tools import Lesson, Tools
from enough.errors import BudgetError, ModelError
from enough.progress import OnStep, silent
from enough.protocols import Budget, ScoredSequence
from enough.records import Pool, Record

FeedbackKind = Literal["likelihood", "metric"]
Values = NDArray[np.float64]
Profile = tuple[Record, ...]

_TOGETHER = 4096  # prompts handed over in one call: enough to share work, little to hold in memory


@dataclass(frozen=True, slots=True, eq=False)
class Rated:
    """A lesson and what each record of its pool is worth alone.

    Attributes:
        lesson: what is learned from.
        pool: the records that fit the window, in pool order.
        worth: of each, [len(pool)].
    """

    lesson: Lesson
    pool: Pool
    worth: Values


def rate_records(
    lessons: Sequence[Lesson], kind: FeedbackKind, tools: Tools, on_step: OnStep = silent
) -> list[Rated]:
    """Rate every record alone; a lesson in whose window no record fits is left out."""
    pools = []
    for lesson in lessons:
        budget = teaching_budget(lesson, tools)
        if budget is not None:
            sizes = zip(lesson.asked.pool, budget.record_tokens, strict=True)
            if fitting := tuple(c for c, size in sizes if size <= budget.max_profile_tokens):
                pools.append((lesson, fitting))
    if not pools:
        return []
    profiles = [(lesson, (one.record,)) for lesson, pool in pools for one in pool]
    worth = rate_profiles(profiles, kind, tools, on_step)
    parts = np.split(worth, np.cumsum([len(pool) for _, pool in pools])[:-1])
    return [Rated(*both, part) for both, part in zip(pools, parts, strict=True)]


def answer_room(lesson: Lesson, tools: Tools) -> int:
    """Tokens that are kept free behind a prompt: for an answer and, since it is scored, for y."""
    reference = tools.prompter.reference(lesson.example)
    return max(lesson.asked.request.task.max_answer_tokens, len(reference))


def teaching_budget(lesson: Lesson, tools: Tools) -> Budget | None:
    """What a profile of the lesson's pool may have; None if not even the empty one fits."""
    asked, window = lesson.asked, tools.generator.window
    room = answer_room(lesson, tools)
    try:
        return tools.prompter.budget(asked.request, asked.pool, window, tools.max_records, room)
    except BudgetError:
        return None


def rate_profiles(
    profiles: Sequence[tuple[Lesson, Profile]],
    kind: FeedbackKind,
    tools: Tools,
    on_step: OnStep = silent,
) -> Values:
    """What each profile is worth, [len(profiles)]; equal ones are computed once."""
    if kind == "metric":
        return _metric(profiles, tools, on_step)
    empty = [(lesson, ()) for lesson, _ in profiles]
    found = log_likelihoods([*profiles, *empty], tools, on_step)
    return found[: len(profiles)] - found[len(profiles) :]


def log_likelihoods(
    profiles: Sequence[tuple[Lesson, Profile]], tools: Tools, on_step: OnStep = silent
) -> Values:
    """Mean log-likelihood of a reference token with each profile, [len(profiles)]."""
    written = [tools.prompter.sequence(lesson.example, records) for lesson, records in profiles]
    places, distinct = _distinct([(s.tokens.tobytes(), s.reference_length) for s in written])
    scores = np.empty(len(distinct))
    for start in range(0, len(distinct), _TOGETHER):
        some = distinct[start : start + _TOGETHER]
        scores[start : start + len(some)] = _scored(
            [written[i] for i in some], tools, on_step, start, len(distinct)
        )
    if not np.isfinite(scores).all():
        raise ModelError('likelihoods are not finite; load the generator with dtype = "float32"')
    return scores[places]


def _scored(
    sequences: Sequence[ScoredSequence], tools: Tools, on_step: OnStep, done: int, total: int
) -> Values:
    """One call, telling how far it is."""

    def told(members: NDArray[np.int64], _: Values) -> None:
        nonlocal done
        done += len(members)
        on_step("scoring records", done, total)

    return tools.generator.score(sequences, told)


def _metric(profiles: Sequence[tuple[Lesson, Profile]], tools: Tools, on_step: OnStep) -> Values:
    tasks = [lesson.asked.request.task for lesson, _ in profiles]
    prompts = [tools.prompter.prompt(one.asked.request, records) for one, records in profiles]
    keys = [(p.tokens.tobytes(), t.max_answer_tokens) for p, t in zip(prompts, tasks, strict=True)]
    places, distinct = _distinct(keys)
    answers = [""] * len(distinct)
    done = 0
    for room in sorted({keys[i][1] for i in distinct}):
        members = [n for n, i in enumerate(distinct) if keys[i][1] == room]
        for start in range(0, len(members), _TOGETHER):
            some = members[start : start + _TOGETHER]
            texts = tools.generator.generate([prompts[distinct[n]].tokens for n in some], room)
            for n, text in zip(some, texts, strict=True):
                answers[n] = text
            done += len(some)
            on_step("answering with records", done, len(distinct))
    rows = zip(places, profiles, tasks, strict=True)
    return np.array(
        [leading_metric(t, answers[n], one.example.reference) for n, (one, _), t in rows]
    )


def _distinct(keys: Sequence[tuple[bytes, int]]) -> tuple[list[int], list[int]]:
    """For every key its number among the distinct ones, and where each of those is first."""
    number: dict[tuple[bytes, int], int] = {}
    first: list[int] = []
    places: list[int] = []
    for place, key in enumerate(keys):
        if key not in number:
            number[key] = len(first)
            first.append(place)
        places.append(number[key])
    return places, first

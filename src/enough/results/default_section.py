"""ENOUGH at its default λ: how much of five records' gain it keeps, at what cost and what risk.

In: the operating point. Out: Markdown. Shares are ratios of means, with intervals from the same
draws of users above and below the line.
"""

from __future__ import annotations

import numpy as np

from enough.diagnostics.sections import Value, table
from enough.diagnostics.summaries import listed
from enough.diagnostics.told_apart import differs
from enough.evaluation.intervals import Estimate, Resampling, estimate
from enough.results.operating_points import Measured, OperatingPoint
from enough.results.wording import in_words, joined, markdown_table, plain_text

REFERENCE = 5
"""The fixed length whose gain and tokens others are shares of."""
LONG = 3
"""Fixed lengths from here on are those that harm is compared with."""
GAIN_GOAL, TOKENS_GOAL, IDLE_GOAL = 0.95, 0.60, 0.20
"""Of fixed-5: gain to keep at least, tokens to spend at most, also where history says nothing."""


def default_section(point: OperatingPoint) -> str:
    """Everything there is to say at one λ."""
    if point.ours is None:
        return ""
    resampling = point.resampling()
    return joined(
        [
            f"## At λ = {point.lambda_:g}",
            *default_sentences(point),
            _harm_elsewhere(point),
            _selectors(point, resampling),
            "Gain is in units of the task's scale. Harm: requests whose reference became less "
            "likely than without history. Without records: nothing was put into the prompt.",
            "### Task by task",
            _tasks(point),
            f"Shares are of fixed k = {REFERENCE}. Optimism: J as promised less J as it came.",
            *_idle(point),
            _optimism(point),
        ]
    )


def default_sentences(point: OperatingPoint) -> list[str]:
    """What it keeps, spends and harms, without tables."""
    if point.ours is None:
        return []
    resampling = point.resampling()
    return [
        _kept(point, point.ours, resampling),
        _harm_sentence(point, point.ours, resampling),
    ]


def _kept(point: OperatingPoint, ours: Measured, resampling: Resampling) -> str:
    """The share of the gain, the share of the tokens, and whether that was the goal."""
    if REFERENCE not in point.fixed:
        return f"Fixed k = {REFERENCE} was not compared, so no shares of it can be given."
    five = point.fixed[REFERENCE]
    tokens = estimate(ours.tokens, resampling).over(estimate(five.tokens, resampling))
    gain = estimate(ours.gain, resampling).over(estimate(five.gain, resampling))
    if tokens is None:
        return f"Fixed k = {REFERENCE} took no tokens."
    if gain is None:
        gained = in_words(estimate(five.gain, resampling))
        return (
            f"Fixed k = {REFERENCE} gains {gained}, not clearly more than nothing, so no share of "
            f"it can be given. ENOUGH spends {in_words(tokens, 'share')} of its tokens."
        )
    met = gain.observed >= GAIN_GOAL and tokens.observed <= TOKENS_GOAL
    goal = f"at least {GAIN_GOAL:.0%} for at most {TOKENS_GOAL:.0%}"
    return (
        f"ENOUGH keeps {in_words(gain, 'share')} of the likelihood gain of fixed k = {REFERENCE} "
        f"with {in_words(tokens, 'share')} of its tokens. The goal, {goal}, is "
        f"{'met' if met else '**not met**'}."
    )


def _harm_sentence(point: OperatingPoint, ours: Measured, resampling: Resampling) -> str:
    long = {k: one for k, one in point.fixed.items() if k >= LONG}
    if not long:
        return ""
    harm = estimate(ours.harmed, resampling)
    told = []
    for k, one in long.items():
        found = estimate(100 * (ours.harmed - one.harmed), resampling)
        points = in_words(found, "quality")
        is_clear = differs(found.interval, resampling.users)
        told.append(f"k = {k}: {points}{'' if is_clear else ', not told apart'}")
    worse = [k for k, one in long.items() if ours.harmed.mean() > one.harmed.mean()]
    against = (
        f"more often than fixed k = {listed(map(str, worse))}"
        if worse
        else "no more often than any of these fixed lengths"
    )
    return (
        f"It harms {in_words(harm, 'share')} of the requests, {against}. "
        f"The difference to each, in points: {'; '.join(told)}."
    )


def _harm_elsewhere(point: OperatingPoint) -> str:
    """The same where history carries a signal, since to take nothing elsewhere harms nobody."""
    idle = _idle_tasks(point)
    part = point.of_tasks([task for task in point.task_names if task not in idle])
    if not idle or part.ours is None or not part.users or REFERENCE not in part.fixed:
        return ""
    resampling = part.resampling()
    five = part.fixed[REFERENCE].harmed
    difference = in_words(estimate(100 * (part.ours.harmed - five), resampling), "quality")
    without = listed(plain_text(task) for task in idle)
    return (
        f"Without {without}, where history carries no signal, it harms "
        f"{in_words(estimate(part.ours.harmed, resampling), 'share')}, fixed k = {REFERENCE} "
        f"{in_words(estimate(five, resampling), 'share')}: a difference of {difference} points."
    )


def _selectors(point: OperatingPoint, resampling: Resampling) -> str:
    named: dict[str, Measured] = {} if point.ours is None else {"**ENOUGH**": point.ours}
    named |= {f"fixed k = {k}": one for k, one in point.fixed.items()}
    named["best fixed k per task"] = point.best_per_task

    rows: list[list[Value]] = []
    for name, one in named.items():
        columns = (one.net, one.gain, one.tokens, one.harmed, one.stopped)
        rows.append([name, *(estimate(column, resampling).interval for column in columns)])
    return markdown_table(
        table(
            [
                ("", "text"),
                ("J", "signed"),
                ("gain", "signed"),
                ("tokens", "count"),
                ("harm", "share"),
                ("without records", "share"),
            ],
            rows,
        )
    )


def _tasks(point: OperatingPoint) -> str:
    rows: list[list[Value]] = []
    for task in point.task_names:
        part = point.of_task(task)
        resampling = part.resampling()
        if part.ours is None:
            continue
        five = part.fixed.get(REFERENCE)
        tokens = _token_share(part, resampling)
        rows.append(
            [
                plain_text(task),
                estimate(part.ours.net, resampling).interval,
                estimate(part.ours.gain, resampling).interval,
                None if five is None else estimate(five.gain, resampling).interval,
                estimate(part.ours.tokens, resampling).interval,
                None if tokens is None else tokens.interval,
                estimate(part.ours.harmed, resampling).interval,
                None if five is None else estimate(five.harmed, resampling).interval,
                estimate(part.ours.stopped, resampling).interval,
                None if (gap := _gap(part, resampling)) is None else gap.interval,
            ]
        )
    return markdown_table(
        table(
            [
                ("task", "text"),
                ("J", "signed"),
                ("gain", "signed"),
                (f"gain of k = {REFERENCE}", "signed"),
                ("tokens", "count"),
                ("share of tokens", "share"),
                ("harm", "share"),
                (f"harm of k = {REFERENCE}", "share"),
                ("without records", "share"),
                ("optimism", "signed"),
            ],
            rows,
        )
    )


def _token_share(part: OperatingPoint, resampling: Resampling) -> Estimate | None:
    if part.ours is None or REFERENCE not in part.fixed:
        return None
    five = estimate(part.fixed[REFERENCE].tokens, resampling)
    return estimate(part.ours.tokens, resampling).over(five)


def _idle_tasks(point: OperatingPoint) -> list[str]:
    """Tasks on which no fixed length gains anything clearly."""
    found = []
    for task in point.task_names:
        part = point.of_task(task)
        resampling = part.resampling()
        gains = [estimate(o.gain, resampling).interval for k, o in part.fixed.items() if k]
        if not any(gain.low > 0 for gain in gains):
            found.append(task)
    return found


def _idle(point: OperatingPoint) -> list[str]:
    """What ENOUGH spends on such tasks."""
    told = []
    for task in _idle_tasks(point):
        part = point.of_task(task)
        share = _token_share(part, part.resampling())
        if share is None:
            continue
        met = share.observed < IDLE_GOAL
        told.append(
            f"On {plain_text(task)} history carries no signal: no fixed length has a gain whose "
            f"interval lies above zero. There ENOUGH spends {in_words(share, 'share')} of the "
            f"tokens of fixed k = {REFERENCE}; the goal, less than {IDLE_GOAL:.0%}, is "
            f"{'met' if met else '**not met**'}."
        )
    return told or ["On every task some fixed length has a gain whose interval lies above zero."]


def _gap(point: OperatingPoint, resampling: Resampling) -> Estimate | None:
    """Promised less realised J, where something was promised on every request."""
    if point.ours is None or np.isnan(point.ours.gap).any():
        return None
    return estimate(point.ours.gap, resampling)


def _optimism(point: OperatingPoint) -> str:
    resampling = point.resampling()
    gap = _gap(point, resampling)
    if gap is None:
        return ""
    if not differs(gap.interval, resampling.users):
        return f"Over all tasks, promises and outcomes are not told apart: {in_words(gap)}."
    too = "more" if gap.observed > 0 else "less"
    return f"Over all tasks, ENOUGH promises {too} than it keeps: the gap is {in_words(gap)}."

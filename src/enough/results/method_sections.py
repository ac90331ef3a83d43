"""All methods beside each other: what they are worth, what they cost, and where ENOUGH stands.

In: measures of methods. Out: Markdown. Ranks are among the methods of the main table; diagnostics
and oracles stand below them. Where ENOUGH is not first, the text names who is, and says whether the
difference can be told from zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from enough.diagnostics.sections import Format, Value, table
from enough.diagnostics.summaries import listed
from enough.diagnostics.told_apart import differs
from enough.evaluation.table_text import HEADINGS
from enough.evaluation.table_values import Shown
from enough.results.method_measures import Measure, MethodMeasures, Standing, standing
from enough.results.method_names import best_methods, methods_of, name_in_table, title_of
from enough.results.metric_section import metrics_section
from enough.results.wording import cell, in_words, joined, markdown_table, plain_text

_RANKED = ("quality index", "J", "gain per 1,000 tokens", "tokens", "harm")


def methods_section(found: MethodMeasures) -> str:
    """Tables over all tasks, ENOUGH's standing, and the metrics task by task."""
    setup = found.table.setup
    about = found.answers.about
    return joined(
        [
            "## All methods",
            f"All methods share users, pools, prompt and generator. Generator: "
            f"{plain_text(setup.generator)}. Encoder: {plain_text(setup.encoder)}. Reranker: "
            f"{plain_text(setup.reranker)}. Answers: {plain_text(setup.decoding)}. J is that of "
            f"β = {about['beta']:g} and λ = {about['lambda']:g}.",
            *_pooled(found),
            _definitions(found),
            *_standings(found),
            *metrics_section(found),
        ]
    )


def _pooled(found: MethodMeasures) -> list[str]:
    parts = []
    for group, heading in HEADINGS.items():
        if methods := methods_of(found, group):
            parts += [f"**{plain_text(heading)}**", _table(found, methods, found.pooled.values())]
    return parts


def _table(found: MethodMeasures, methods: Sequence[Shown], measures: Iterable[Measure]) -> str:
    """Methods by measures; what no method of the group has is left out, the best is bold."""
    names = [one.name for one in methods]
    kept = [one for one in measures if any(name in one.values for name in names)]
    best = [best_methods(one, methods) for one in kept]
    rows: list[list[Value]] = []
    for shown in methods:
        row: list[Value] = [name_in_table(found, shown)]
        for measure, printed in zip(kept, best, strict=True):
            text = cell(measure.values.get(shown.name), measure.format)
            row.append(f"**{text}**" if shown.name in printed else text)
        rows.append(row)
    heads: list[tuple[str, Format]] = [
        ("method", "text"),
        *((one.name, one.format) for one in kept),
    ]
    return markdown_table(table(heads, rows))


def _definitions(found: MethodMeasures) -> str:
    champion = found.table.champion
    relative = f", {title_of(found, champion)} having 100" if champion else ""
    return (
        f"Quality index: the mean over tasks of the official metrics relative to one method's"
        f"{relative}. J, gain and gain per token exist only where all records stand in one "
        "prompt. Tokens: what the records add, over all prompts. Calls: of generator and reranker, "
        "measured. Harm: requests whose leading metric is worse than with the empty profile. "
        "Brackets: 95% intervals, users resampled; means are over all runs."
    )


def _standings(found: MethodMeasures) -> list[str]:
    """Ranks of the champion, and sentences about where it is not first."""
    champion = found.table.champion
    names = [one.name for one in methods_of(found, "main")]
    if champion not in names:
        return []
    every = [("", found.pooled[name]) for name in _RANKED]
    every += [(f"{t} ", measure) for t, of in found.metrics.items() for measure in of]
    places = [
        (f"{task}{measure.name}", place)
        for task, measure in every
        if (place := standing(measure, champion, names)) is not None
    ]
    if not places:
        return []
    title = title_of(found, champion)
    rows = [
        [
            plain_text(name),
            f"{one.rank} of {one.among}",
            title_of(found, one.other),
            cell(one.lead, one.measure.format),
            "yes" if differs(one.lead.interval, one.measure.users) else "no",
        ]
        for name, one in places
    ]
    columns = ("measure", "rank", "best other", f"{title}'s lead", "told from zero")
    return [
        f"### Where {title} stands",
        markdown_table(table([(one, "text") for one in columns], rows)),
        f"A lead is positive where {title} is better, also where less is better; leads in harm and "
        "metrics are in points.",
        *_not_first(found, title, places),
    ]


def _not_first(
    found: MethodMeasures, title: str, places: Sequence[tuple[str, Standing]]
) -> list[str]:
    """How often the method is first, clearly or not, and who is wherever it is not."""
    first = {
        plain_text(name): differs(one.lead.interval, one.measure.users)
        for name, one in places
        if one.rank == 1
    }
    told = [f"{title} is first in {len(first)} of {len(places)} measures."]
    for is_clear, words in ((True, "told from zero"), (False, "not told from zero")):
        if names := [name for name, clear in first.items() if clear == is_clear]:
            told[0] += f" Its lead is {words} in {listed(names)}."
    for name, one in places:
        if one.rank > 1:
            is_clear = differs(one.lead.interval, one.measure.users)
            told.append(
                f"- {plain_text(name)}: **{title} is not first**, {title_of(found, one.other)} is; "
                f"the lead is {in_words(one.lead, one.measure.format)}, "
                f"{'a difference that excludes zero' if is_clear else 'not told from zero'}."
            )
    return [told[0], "\n".join(told[1:])]

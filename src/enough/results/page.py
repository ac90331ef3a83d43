"""The page of results: one Markdown file and its figures, from published rows.

In: sources. Out: text and SVG files; every number is computed from rows. What a source that is
missing would have said is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from enough.diagnostics.sections import Format, Value, table
from enough.diagnostics.summaries import listed
from enough.errors import ConfigError
from enough.results.cut_section import cut_section, cuts_of
from enough.results.default_section import default_section
from enough.results.figures import figures
from enough.results.length_sections import lengths_section
from enough.results.method_measures import measure_methods
from enough.results.method_sections import methods_section
from enough.results.operating_points import OperatingPoint, operating_points
from enough.results.scatter import draw_scatter
from enough.results.sources import Answers, Outcomes, Sources
from enough.results.wording import joined, markdown_table, plain_text
from enough.run_folders import write_whole

FOLDER = "figures"


@dataclass(frozen=True, slots=True)
class Results:
    """The page as Markdown, and its figures by the name of their file."""

    text: str
    figures: Mapping[str, str]


def results_of(
    sources: Sources,
    *,
    lambda_: float | None = None,
    machine: str = "",
    note: str = "",
    command: str = "",
) -> Results:
    """Everything.

    Args:
        sources: rows.
        lambda_: the λ that is looked at closely; None: that of the answers, or the lowest there is.
        machine: what it ran on, in words.
        note: what else a reader must know about what was run.
        command: what makes this page again.

    Raises:
        ConfigError: if there are outcomes, but none at this λ.
    """
    points = operating_points(sources.outcomes.rows) if sources.outcomes else []
    cuts = cuts_of(sources.outcomes.rows, points) if sources.outcomes else None
    if lambda_ is None and sources.answers:
        lambda_ = sources.answers.about["lambda"]
    point = _at(points, lambda_) if points else None
    methods = measure_methods(sources.answers) if sources.answers else None
    drawings = {f"{name}.svg": draw_scatter(one) for name, one in figures(methods, point).items()}
    text = joined(
        [
            "# Results",
            "\n".join(f"![{_alt(name)}]({FOLDER}/{name})" for name in drawings),
            _caption(drawings),
            "## What was run",
            *_outcomes_run(sources.outcomes, points),
            *_answers_run(sources.answers),
            f"Machine: {plain_text(machine)}." if machine else "",
            plain_text(note),
            lengths_section(points) if points else "",
            cut_section(cuts, point) if cuts and point else "",
            default_section(point) if point else "",
            methods_section(methods) if methods else "",
            f"---\n\nThis page and its figures are made from rows by `{command}`."
            if command
            else "",
        ]
    )
    return Results(f"{text}\n", drawings)


def write_results(page: Path, results: Results) -> list[Path]:
    """The page, its figures in a folder beside it; where they are, the page first."""
    paths = [page, *(page.parent / FOLDER / name for name in results.figures)]
    contents = [results.text, *results.figures.values()]
    for path, content in zip(paths, contents, strict=True):
        write_whole(path, content.encode())
    return paths


def _at(points: Sequence[OperatingPoint], lambda_: float | None) -> OperatingPoint:
    if lambda_ is None:
        return min(points, key=lambda point: point.lambda_)
    for point in points:
        if point.lambda_ == lambda_:
            return point
    there = listed(f"{point.lambda_:g}" for point in points)
    raise ConfigError(f"there are no outcomes at λ = {lambda_:g}; name one with --lambda: {there}")


def _alt(name: str) -> str:
    return f"{Path(name).stem.replace('-', ' ').capitalize()} against tokens"


def _caption(drawings: Mapping[str, str]) -> str:
    if not drawings:
        return ""
    return (
        "*Every method against the tokens of history it puts into the prompt; the grey line joins "
        "fixed numbers of records. Bars and band: 95% intervals over users. A method "
        "with several prompts has no J.*"
    )


def _outcomes_run(outcomes: Outcomes | None, points: Sequence[OperatingPoint]) -> list[str]:
    """Of the comparison with fixed lengths."""
    if outcomes is None:
        return []
    about, first = outcomes.about, points[0]
    other = {(r.task, r.request) for r in outcomes.rows if r.is_for_choices}
    chosen_on = Counter(task for task, _ in other)
    rows: list[list[Value]] = []
    for task in first.task_names:
        of = first.of_task(task)
        rows.append([plain_text(task), len(of.users), len(set(of.users)), chosen_on[task]])
    heads: list[tuple[str, Format]] = [("task", "text"), ("requests", "count"), ("users", "count")]
    heads.append(("requests to choose k on", "count"))
    seeds = sorted({seed for point in points for seed in point.seeds if seed is not None})
    said = [
        f"Controllers and fixed lengths, judged by the likelihood of the reference. λ: "
        f"{listed(f'{point.lambda_:g}' for point in points)}; β: "
        f"{listed(f'{b:g}' for b in sorted({point.beta for point in points}))}."
    ]
    if seeds:
        said.append(f"Seeds of training: {listed(map(str, seeds))}.")
    said += [
        f"Generator: {plain_text(str(about.get('generator', 'not said')))}.",
        f"At most {about['max_records']} records." if "max_records" in about else "",
    ]
    return [" ".join(filter(None, said)), markdown_table(table(heads, rows))]


def _answers_run(answers: Answers | None) -> list[str]:
    """Of the evaluation of all methods."""
    if answers is None:
        return []
    rows: list[list[Value]] = []
    for task in answers.tasks:
        of = [row for row in answers.rows if row.task == task.name]
        if of:
            requests, users = ({getattr(r, name) for r in of} for name in ("request_id", "user"))
            rows.append([plain_text(task.name), len(requests), len(users)])
    seeds = listed(map(str, sorted({row.seed for row in answers.rows})))
    methods = len({row.method for row in answers.rows})
    said = (
        f"{methods} methods that write answers, with the generator "
        f"{plain_text(answers.setup.generator)}. Seeds of training, on the same labels: {seeds}; a "
        "method without any draw in it ran once."
    )
    return [
        said,
        markdown_table(table([("task", "text"), ("requests", "count"), ("users", "count")], rows)),
    ]

"""The figures of the page: quality and net utility against tokens.

In: measures of methods, or an operating point. Out: up to two `Scatter`s. Quality needs answers; J
is taken from them too where they have it, otherwise from the comparison with fixed lengths.
"""

from __future__ import annotations

from collections.abc import Iterable

from enough.diagnostics.sections import Point
from enough.evaluation.intervals import Estimate, estimate
from enough.results.method_measures import MethodMeasures
from enough.results.operating_points import Measured, OperatingPoint
from enough.results.scatter_values import Named, Scatter

QUALITY, UTILITY = "quality", "net-utility"
_TOKENS = "tokens of history in the prompt"


def figures(methods: MethodMeasures | None, point: OperatingPoint | None) -> dict[str, Scatter]:
    """By the name of their file."""
    found: dict[str, Scatter] = {}
    if methods is not None and methods.pooled["quality index"].values:
        title = "Quality of answers"
        found[QUALITY] = _of_methods(methods, "quality index", title, "quality index, ENOUGH = 100")
    if methods is not None and methods.pooled["J"].values:
        title = f"Net utility at λ = {methods.answers.about['lambda']:g}"
        found[UTILITY] = _of_methods(methods, "J", title, "J, mean over requests")
    elif point is not None and point.ours is not None:
        found[UTILITY] = _of_point(point, point.ours)
    return found


def _of_methods(methods: MethodMeasures, name: str, title: str, y: str) -> Scatter:
    measure, tokens = methods.pooled[name], methods.pooled["tokens"].values
    champion, lengths = methods.table.champion, methods.answers.lengths
    titles = {line.shown.name: line.shown.title for line in methods.table.lines}
    if champion is not None:
        y = y.replace("ENOUGH", titles[champion])

    def place(method: str, note: str = "") -> Point:
        return _placed(tokens[method].observed, measure.values[method], note)

    others = [
        line.shown
        for line in methods.table.lines
        if line.shown.group == "main" and line.shown.name != champion
    ]
    points = [  # numbered before some are left out, so that a method looks the same in all figures
        Named(shown.title, place(shown.name), number)
        for number, shown in enumerate(others)
        if shown.name in measure.values
    ]
    if champion is not None and champion in measure.values:
        points.append(Named(titles[champion], place(champion), is_ours=True))
    fixed = {k: method for method, k in lengths.items() if method in measure.values}
    return Scatter(
        title=title,
        x=_TOKENS,
        y=y,
        points=tuple(points),
        line=tuple(place(fixed[k], f"k={k}") for k in sorted(fixed)),
        line_name=_line_name(fixed),
        y_format=measure.format,
    )


def _of_point(point: OperatingPoint, ours: Measured) -> Scatter:
    resampling = point.resampling()

    def place(one: Measured, note: str = "") -> Point:
        return _placed(float(one.tokens.mean()), estimate(one.net, resampling), note)

    return Scatter(
        title=f"Net utility at λ = {point.lambda_:g}",
        x=_TOKENS,
        y="J, mean over requests",
        points=(Named("ENOUGH", place(ours), is_ours=True),),
        line=tuple(place(one, f"k={k}") for k, one in point.fixed.items()),
        line_name=_line_name(point.fixed),
        y_format="signed",
    )


def _line_name(lengths: Iterable[int]) -> str:
    known = sorted(lengths)
    return f"fixed k={known[0]}–{known[-1]}" if known else ""


def _placed(x: float, found: Estimate, note: str) -> Point:
    interval = found.interval
    return Point(x, interval.mean, interval.low, interval.high, note)

"""Does it hold for other generators? The whole study again with each of them, nothing carried over.

In: reported requests. Out: a row for each of them, every generator and every method (paper: Figure
app-generator-scale). Token costs, likelihoods, labels and controllers are made anew.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from enough.config import require_at_least
from enough.diagnostics.diagnostic import About, Diagnostic
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.sections import Format, HeatMap, Panel, Section, table
from enough.diagnostics.task_metrics import by_task, metric_estimate, orientation, points
from enough.diagnostics.transfer.contestants import require_rivals
from enough.diagnostics.transfer.gaps import (
    STRONGEST_NOTE,
    Gap,
    by_method,
    gaps,
    method_table,
    verdict,
)
from enough.diagnostics.transfer.rerun import Change, RerunRow, remade, rows_of_methods
from enough.errors import ConfigError
from enough.evaluation.intervals import Interval
from enough.generators.config import GeneratorConfig
from enough.model_names import model_name

_NAME = "generator-scale"
PAPER = (
    ("accuracy", 1.2, 2.5),
    ("F1", 1.2, 2.6),
    ("MAE, less", 1.3, 2.7),
    ("RMSE, less", 2.5, 5.0),
    ("ROUGE-1, ROUGE-L", 0.4, 2.0),
)


@dataclass(frozen=True, slots=True)
class NamedGenerator:
    """A generator, and what it is called in tables."""

    name: str
    generator: GeneratorConfig = field(default_factory=GeneratorConfig)


@dataclass(frozen=True, slots=True)
class GeneratorScaleConfig:
    """What is compared.

    Attributes:
        generators: with names; none: the study's own, and its model without the adapter.
        requests: reported ones of each task, the first so many; 0 takes all.
        label_requests: labelled per task; 0 as many as the study.
        is_fresh: all controllers begin with fresh weights; without it with those that the study's
            training begins with, which may come from labels of one of the generators.
        lengths: k of the first k records; 0 is the empty profile.
        baselines: further methods of `baselines.registry.METHODS`, with default settings.
    """

    generators: tuple[NamedGenerator, ...] = ()
    requests: int = 0
    label_requests: int = 0
    is_fresh: bool = True
    lengths: tuple[int, ...] = (0, 5)
    baselines: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_at_least(self, {"requests": 0, "label_requests": 0}, f"{_NAME}.")
        names = [_folder(one.name) for one in self.generators]
        if len(set(names)) < len(names) or "" in names:
            raise ConfigError(f"{_NAME}.generators must have names that can be told apart")
        if min(self.lengths, default=0) < 0 or not (self.lengths or self.baselines):
            raise ConfigError(f"{_NAME} needs lengths or baselines to compare with")
        require_rivals(self.baselines, f"{_NAME}.baselines")


def measure(lab: Laboratory, config: GeneratorScaleConfig) -> list[RerunRow]:
    """Rows of every generator."""
    rows = []
    for one in config.generators or own_generators(lab.study.label.generator):
        change = Change(
            generator=one.generator,
            label_requests=config.label_requests,
            is_fresh=config.is_fresh,
        )
        other = remade(lab, f"generator-{_folder(one.name)}", change)
        rows += rows_of_methods(other, one.name, config.lengths, config.baselines, config.requests)
    return rows


def own_generators(own: GeneratorConfig) -> tuple[NamedGenerator, ...]:
    """A generator and, where it has an adapter, its model without it."""
    plain = NamedGenerator(model_name(own.model), replace(own, adapter=None))
    if own.adapter is None:
        return (plain,)
    return NamedGenerator(f"{plain.name} + {own.adapter.name}", own), plain


def section(rows: Sequence[RerunRow], config: GeneratorScaleConfig, about: About) -> Section:
    """All official metrics by generator and method."""
    found = gaps(rows, about.tasks, is_leading_only=False)
    values = _values(rows, about)
    return Section(
        name=_NAME,
        title="Generators",
        question="Does it hold for other generators?",
        answer=_answer(found),
        panels=(
            Panel(
                "Every official metric times 100. Darker is better within a grid, whose colours "
                "cannot be compared with those of another; errors are drawn with a minus sign.",
                table(_COLUMNS, [(v, m, t, metric, one) for (t, metric, m, v), one in values]),
                _maps(values),
            ),
            Panel(
                "ENOUGH and the strongest other method with the same generator.",
                table(
                    _GAP_COLUMNS,
                    [(gap.variant, gap.task, gap.metric, gap.rival, gap.delta) for gap in found],
                ),
            ),
            Panel(
                "All methods; quality is 100 for ENOUGH with the same generator.",
                method_table(rows, about.tasks, "Generator"),
            ),
        ),
        paper=(
            Panel(
                "Section Generator-Scale Sensitivity (the figure's single values are not in the "
                "text): what baselines gain from Qwen3.5-4B to 27B, in points.",
                table((("Metric", "text"), ("Least", "signed"), ("Most", "signed")), PAPER),
            ),
        ),
        notes=(_start_note(config), STRONGEST_NOTE, "Intervals: 95%, users drawn anew."),
    )


_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Generator", "text"),
    ("Method", "text"),
    ("Task", "text"),
    ("Metric", "text"),
    ("Value", "quality"),
)
_GAP_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Generator", "text"),
    ("Task", "text"),
    ("Metric", "text"),
    ("Strongest other", "text"),
    ("Δ", "signed"),
)
_Key = tuple[str, str, str, str]
"""Task, metric, method, generator."""


def _values(rows: Sequence[RerunRow], about: About) -> list[tuple[_Key, Interval]]:
    found: list[tuple[_Key, Interval]] = []
    for variant, methods in by_method(rows).items():
        for method, of_method in methods.items():
            for task, of in by_task(of_method).items():
                for metric in about.tasks[task].metrics:
                    one = points(metric_estimate(of, about.tasks[task], metric))
                    found.append(((task, metric, method, variant), one))
    return found


def _maps(values: Sequence[tuple[_Key, Interval]]) -> tuple[HeatMap, ...]:
    maps = []
    for task, metric in dict.fromkeys(key[:2] for key, _ in values):
        sign = orientation(metric)
        cells = {key[2:]: sign * one.mean for key, one in values if key[:2] == (task, metric)}
        methods = tuple(dict.fromkeys(method for method, _ in cells))
        generators = tuple(dict.fromkeys(variant for _, variant in cells))
        grid = tuple(tuple(cells.get((m, g)) for g in generators) for m in methods)
        title = f"{task}: {metric}" if sign > 0 else f"{task}: {metric}, negated"
        maps.append(HeatMap(title, methods, generators, grid, format="quality"))
    return tuple(maps)


def _answer(found: Sequence[Gap]) -> str:
    by_variant: dict[str, list[Gap]] = {}
    for gap in found:
        by_variant.setdefault(gap.variant, []).append(gap)
    told = [f"With {name}, {verdict(of)}." for name, of in by_variant.items()]
    if len(told) == 1:
        told.append("One generator alone says nothing about others.")
    return " ".join(told)


def _start_note(config: GeneratorScaleConfig) -> str:
    anew = "Token costs, likelihoods, labels and controllers are made anew for every generator"
    if config.is_fresh:
        return f"{anew}; all controllers begin with fresh weights, so nothing is carried over."
    return (
        f"{anew}, but controllers begin with the weights the study names, which were learnt from "
        "labels of another model: something is carried over."
    )


def _folder(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")


GENERATOR_SCALE = Diagnostic(_NAME, GeneratorScaleConfig, RerunRow, measure, section)

"""Measures agree with the main table, and ranks and leads with what was put in."""

from __future__ import annotations

import numpy as np
import pytest

from enough.evaluation.intervals import Estimate
from enough.evaluation.published_rows import publish_rows, table_rows
from enough.evaluation.table_values import Shown
from enough.results.method_measures import Measure, MethodMeasures, measure_methods, standing
from enough.results.method_sections import methods_section
from enough.results.sources import Answers
from enough.tasks import LAMP_TASKS
from tests.results.made_up import LENGTHS, METHODS, SETUP, answers_about, made_up_rows

TASKS = ["LaMP-2", "LaMP-3", "LaMP-7"]


def made_up_answers(users: int = 30) -> Answers:
    tasks = [LAMP_TASKS[name] for name in TASKS]
    return Answers(
        rows=table_rows(publish_rows(made_up_rows(TASKS, users), tasks), tasks),
        tasks=tasks,
        methods=[Shown(name, one[0], one[1]) for name, one in METHODS.items()],  # type: ignore[arg-type]
        lengths=LENGTHS,
        setup=SETUP,
        champion="enough",
        empty="empty",
        about=answers_about(TASKS),
    )


@pytest.fixture(scope="module")
def found() -> MethodMeasures:
    return measure_methods(made_up_answers())


def test_measures_are_those_of_the_main_table(found: MethodMeasures) -> None:
    for line in found.table.lines:
        name = line.shown.name
        values = {key: one.values.get(name) for key, one in found.pooled.items()}
        assert _observed(values["tokens"]) == pytest.approx(line.tokens)
        assert _observed(values["calls"]) == pytest.approx(line.calls + line.rerank_calls)
        assert _observed(values["harm"]) == pytest.approx(line.harm)
        assert _observed(values["quality index"]) == line.quality
        assert _observed(values["J"]) == pytest.approx(line.net and line.net.mean)
        for column, cell in line.cells.items():
            (metric,) = (m for m in found.metrics[column.task] if m.name == column.metric)
            assert metric.values[name].observed == pytest.approx(cell.value)


def _observed(one: Estimate | None) -> float | None:
    return None if one is None else one.observed


def test_several_prompts_have_no_utility(found: MethodMeasures) -> None:
    for name in ("J", "gain", "gain per 1,000 tokens"):
        assert {"ic-ralm", "replug"}.isdisjoint(found.pooled[name].values)
    gain, tokens = (found.pooled[name].values["bm25"].observed for name in ("gain", "tokens"))
    rate = found.pooled["gain per 1,000 tokens"].values["bm25"].observed
    assert rate == pytest.approx(1000 * gain / tokens)
    assert "empty" not in found.pooled["gain per 1,000 tokens"].values, "no tokens, no rate"


def test_the_index_of_the_tested_method_is_always_100(found: MethodMeasures) -> None:
    quality = found.pooled["quality index"].values
    assert set(np.unique(quality["enough"].draws.round(9))) == {100.0}
    interval = quality["bm25"].interval
    assert interval.low < interval.mean < interval.high


def test_an_index_that_is_undefined_in_some_draw_is_left_out() -> None:
    few = measure_methods(made_up_answers(3)).pooled["quality index"].values
    assert "enough" in few
    assert len(few) < len(METHODS), "some draw of three users has no error to divide by"


def measure(better: int, **values: float) -> Measure:
    draws = {name: Estimate(value, np.array([value, value + 1])) for name, value in values.items()}
    return Measure("m", "number", better, draws, 10)


def test_standings() -> None:
    names = ["a", "b", "c"]
    first = standing(measure(+1, a=3.0, b=2.0, c=1.0), "a", names)
    assert first is not None
    assert (first.rank, first.among, first.other, first.lead.observed) == (1, 3, "b", 1.0)
    last = standing(measure(-1, a=3.0, b=2.0, c=1.0), "a", names)
    assert last is not None
    assert (last.rank, last.other, last.lead.observed) == (3, "c", -2.0), "less is better"
    tied = standing(measure(+1, a=3.0, b=3.0), "a", names)
    assert tied is not None and tied.rank == 1
    assert standing(measure(+1, b=3.0), "a", names) is None
    assert standing(measure(+1, a=3.0), "a", names) is None
    assert standing(measure(0, a=3.0, b=1.0), "a", names) is None


def test_the_text_says_where_it_is_not_first(found: MethodMeasures) -> None:
    text = methods_section(found)
    names = [line.shown.name for line in found.table.lines if line.shown.group == "main"]
    every = [("", found.pooled[name]) for name in ("quality index", "J", "tokens", "harm")]
    every += [(f"{task} ", one) for task, of in found.metrics.items() for one in of]
    behind = 0
    for task, one in every:
        place = standing(one, "enough", names)
        assert place is not None
        assert f"| {task}{one.name} | {place.rank} of {place.among} |" in text
        other = METHODS[place.other][0]
        line = f"- {task}{one.name}: **ENOUGH is not first**, {other} is;"
        assert (line in text) == (place.rank > 1)
        behind += place.rank > 1
    assert behind, "the made-up methods are close enough for that"
    assert text.count("**ENOUGH is not first**") == behind + (
        "- gain per 1,000 tokens: **ENOUGH" in text
    )
    assert "| best record (oracle) |" in text.split("**Oracles")[1]

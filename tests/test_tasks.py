from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from enough.errors import ConfigError, UnknownNameError
from enough.tasks import LAMP_TASKS, METRIC_IS_HIGHER_BETTER, load_task, task_named

LAMP_1 = (
    'For an author who has written the paper with the title "On "Quoted" Titles", which reference '
    'is related? Just answer with [1] or [2] without explanation. [1]: "First "inner" ref" '
    '[2]: "Second ref"'
)
LAMP_2 = "Which tag? tags: [a] description: A film. Its description: none."
LAMP_3 = (
    "What is the score of the following review on a scale of 1 to 5? just answer with 1, 2, 3, 4, "
    "or 5 without further explanation. review: Good\nreview: twice"
)


@pytest.mark.parametrize(
    ("task", "text", "query"),
    [
        ("LaMP-1", LAMP_1, 'First "inner" ref Second ref'),
        ("LaMP-2", LAMP_2, "A film. Its description: none."),
        ("LaMP-3", LAMP_3, "Good\nreview: twice"),
        ("LaMP-4", "Generate a headline for the following article: News.", "News."),
        (
            "LaMP-5",
            "Generate a title for the following abstract of a paper: We show: a thing.",
            "We show: a thing.",
        ),
        (
            "LaMP-7",
            "Paraphrase the following tweet without any explanation before or after it: hi: you",
            "hi: you",
        ),
    ],
)
def test_official_queries(task: str, text: str, query: str) -> None:
    assert LAMP_TASKS[task].query_of(text) == query


def test_an_input_of_another_form_is_refused() -> None:
    with pytest.raises(ValueError, match="does not have the form of LaMP-2"):
        LAMP_TASKS["LaMP-2"].query_of("Generate a headline for the following article: News.")


@pytest.mark.parametrize("name", ["LaMP-2", "LaMP_2", "lamp2", "LAMP 2"])
def test_names_are_read_generously(name: str) -> None:
    assert task_named(name) is LAMP_TASKS["LaMP-2"]


def test_an_unknown_task_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean 'LaMP-5'.*Known: LaMP-1, LaMP-2"):
        task_named("LaMP-55")


def test_the_paper_tables_fields() -> None:
    assert list(LAMP_TASKS) == [f"LaMP-{n}" for n in (1, 2, 3, 4, 5, 7)]
    for task in LAMP_TASKS.values():
        assert set(task.metrics) <= METRIC_IS_HIGHER_BETTER.keys()
        assert "{action}" not in task.pre_action_text
    assert [len(task.labels) for task in LAMP_TASKS.values()] == [2, 15, 5, 0, 0, 0]


def test_a_log_of_ones_own_is_a_task(tmp_path: Path) -> None:
    file = tmp_path / "replies.toml"
    file.write_text(
        """
        name = "support-replies"
        description = "Answer the customer as this agent would."
        context_field = "message"
        action_field = "reply"
        query_pattern = 'Customer: (.*)'
        metrics = ["rouge-l"]
        """
    )
    task = task_named(str(file))
    assert task == load_task(file)
    assert task.query_of("Customer: where is it?") == "where is it?"
    assert task.max_answer_tokens == 128


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = 'x'\ndescription = 'x'", "'action_field' is missing"),
        ("nmae = 'x'", "did you mean 'name'"),
        ("name = 1", "name must be of type str"),
        ("name = 'x'\ndescription = 'x'\naction_field = 'a'\nmetrics = ['blue']", "metric 'blue'"),
        (
            "name = 'x'\ndescription = 'x'\naction_field = 'a'\npre_action_text = '{action}'",
            "pre_action_text may not use {action}",
        ),
        (
            "name = 'x'\ndescription = 'x'\naction_field = 'a'\nquery_pattern = 'x'",
            "needs at least one group",
        ),
        (
            "name = '[x]'\ndescription = 'x'\naction_field = 'a'",
            "one line without brackets",
        ),
        ("name = ", "replies.toml"),
    ],
)
def test_a_wrong_task_file_says_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "replies.toml"
    file.write_text(text)
    with pytest.raises((ConfigError, UnknownNameError), match=message):
        load_task(file)


def test_a_query_is_found_in_linear_time() -> None:
    """From each of many beginnings a search would go to the end: hours, for some megabytes."""
    began = time.perf_counter()
    for text in ('[1]: "' * 150_000, '" [2]: "' * 150_000, '[1]: "' + '" [2]: ' * 150_000):
        for task in LAMP_TASKS.values():
            with contextlib.suppress(ValueError):
                task.query_of(text)
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize("change", [{"context_field": "tag"}, {"metadata_fields": ("tag",)}])
def test_a_field_has_one_role(change: Any) -> None:
    """Else the action would stand in what was known before it."""
    with pytest.raises(ConfigError, match="the field 'tag' has two roles"):
        replace(LAMP_TASKS["LaMP-2"], **change)


def test_lamps_names_are_lamps(tmp_path: Path) -> None:
    path, named = tmp_path / "task.toml", 'name = "LaMP-7"\ndescription = "Mine."\n'
    path.write_text(f'{named}context_field = "message"\naction_field = "reply"\n')
    with pytest.raises(ConfigError, match=r"LaMP-7 is LaMP's own, .* give it another name"):
        load_task(path)
    path.write_text(f'{named}action_field = "text"\nmax_answer_tokens = 7\n')
    assert load_task(path).max_answer_tokens == 7

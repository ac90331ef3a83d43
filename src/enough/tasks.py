"""Tasks as data: what a record's fields mean, what is searched with, how an answer is judged.

The six LaMP tasks are the table `LAMP_TASKS`; anybody's own log becomes a task through a TOML file
(`load_task`). No code anywhere branches on a task's name.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from string import Formatter

from enough.config import from_table, load_config
from enough.errors import ConfigError, UnknownNameError

METRIC_IS_HIGHER_BETTER = {
    "accuracy": True,
    "f1": True,
    "mae": False,
    "rmse": False,
    "rouge-1": True,
    "rouge-l": True,
}


@dataclass(frozen=True, slots=True)
class Task:
    """Everything that differs between tasks.

    Attributes:
        name: as shown in prompts and tables, e.g. "LaMP-2".
        description: one sentence for the <TASK> section.
        context_field: raw field holding c_d; "" when the schema has none (LaMP-7).
        action_field: raw field holding a_d.
        metadata_fields: further raw fields that go into m_d.
        context_required: whether an empty context is a data error.
        query_pattern: regular expression over the input; its groups, joined by a space, are the
            query. The first match counts.
        retrieval_text: what retrievers index, from {context} and {action} (LaMP's official text).
        pre_action_text: what matching may see; {action} is not allowed in it.
        labels: the closed answer set, or empty for free text.
        metrics: names from METRIC_IS_HIGHER_BETTER, the leading one first.
        max_answer_tokens: room for the answer in the generator's window.
        paper_counts: (split, count) pairs of the paper's data table, to compare a download with.
    """

    name: str
    description: str
    action_field: str
    context_field: str = ""
    metadata_fields: tuple[str, ...] = ()
    context_required: bool = False
    query_pattern: str = r"(.*)"
    retrieval_text: str = "{context} {action}"
    pre_action_text: str = "{context}"
    labels: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ("rouge-1", "rouge-l")
    max_answer_tokens: int = 128
    paper_counts: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        _check(self)

    def __hash__(self) -> int:
        """By its name: tasks are part of many keys, and equal ones have the same."""
        return hash(self.name)

    def query_of(self, text: str) -> str:
        """The query inside an input.

        Raises:
            ValueError: if the input does not have the task's form.
        """
        match = _compiled(self.query_pattern).search(text)
        if match is None:
            raise ValueError(f"the input does not have the form of {self.name}: {text[:80]!r}")
        return " ".join(group.strip() for group in match.groups() if group is not None).strip()


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Tables of the standard library are slower to look things up in."""
    return re.compile(pattern, re.DOTALL)


def _check(task: Task) -> None:
    if not task.name.strip() or any(c in task.name for c in "\n\r[]<>"):
        raise ConfigError(f"task name {task.name!r} must be one line without brackets")
    if not task.action_field:
        raise ConfigError(f"task {task.name!r}: action_field must name the field of the user's act")
    fields = [task.action_field, *filter(None, [task.context_field]), *task.metadata_fields]
    if twice := [name for name in fields if fields.count(name) > 1]:
        raise ConfigError(
            f"task {task.name!r}: the field {twice[0]!r} has two roles; context, action and each "
            "field of the metadata must differ, or the answer stands in the question"
        )
    for metric in task.metrics:
        if metric not in METRIC_IS_HIGHER_BETTER:
            raise UnknownNameError("metric", metric, METRIC_IS_HIGHER_BETTER)
    for key, allowed in (
        ("retrieval_text", {"context", "action"}),
        ("pre_action_text", {"context"}),
    ):
        try:
            used = {
                name for _, name, _, _ in Formatter().parse(getattr(task, key)) if name is not None
            }
        except ValueError as error:
            raise ConfigError(f"task {task.name!r}: {key} is not a template: {error}") from None
        if not used <= allowed:
            extra = ", ".join(sorted(used - allowed))
            raise ConfigError(f"task {task.name!r}: {key} may not use {{{extra}}}")
    try:
        groups = re.compile(task.query_pattern).groups
    except re.error as error:
        raise ConfigError(f"task {task.name!r}: query_pattern: {error}") from None
    if groups == 0:
        raise ConfigError(f"task {task.name!r}: query_pattern needs at least one group")
    if task.max_answer_tokens < 1:
        raise ConfigError(f"task {task.name!r}: max_answer_tokens must be at least 1")


def load_task(path: Path) -> Task:
    """Read a custom task from a TOML file; unknown keys and wrong types are errors."""
    task = load_config(path, Task)
    known = LAMP_TASKS.get(task.name)
    if known is not None and _schema(known) != _schema(task):
        raise ConfigError(
            f"{path}: {task.name} is LaMP's own, with other fields or labels; controllers would "
            "take yours for it, so give it another name"
        )
    return task


def _schema(task: Task) -> tuple[object, ...]:
    return task.context_field, task.action_field, task.metadata_fields, task.labels


def _lamp_tasks() -> dict[str, Task]:
    text = resources.files("enough").joinpath("lamp_tasks.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)["task"]
    return {task.name: task for task in (from_table(t, Task, "lamp_tasks.toml") for t in tables)}


LAMP_TASKS: dict[str, Task] = _lamp_tasks()


def task_named(name: str) -> Task:
    """A LaMP task by name ("LaMP-2", "LaMP_2" or "lamp2"), or a custom one by its TOML file."""
    if name.endswith(".toml"):
        return load_task(Path(name))
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    for task in LAMP_TASKS.values():
        if re.sub(r"[^a-z0-9]", "", task.name.lower()) == plain:
            return task
    raise UnknownNameError("task", name, LAMP_TASKS)

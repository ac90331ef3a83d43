"""What the writers of all six domains share: habits by aspect, topics, a calendar, word lists.

A *facet* is what a text shows and an answer turns on, e.g. ("grumble", "late"); a *habit* is what a
person does about it. The tables are TOML files beside this module.
"""

from __future__ import annotations

import tomllib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from importlib import resources
from random import Random
from typing import Any

from enough.data.synthetic.grammar import Grammar, Scope
from enough.tasks import LAMP_TASKS

Facet = tuple[str, str]
"""(dimension, aspect)."""


@dataclass(frozen=True, slots=True)
class Item:
    """What a record is about, before a word of it is written.

    Attributes:
        topic: its subject; carries words but decides nothing.
        facets: what the owner has habits about; empty when everybody would answer alike.
        asked: whether a request is made of it.
        rival: a habit the owner does not have (LaMP-1's other reference).
    """

    topic: str
    facets: tuple[Facet, ...] = ()
    asked: bool = False
    rival: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """A record's context and action; and the input and reference if it is asked about."""

    context: str
    action: str
    input: str
    reference: str


class Domain(ABC):
    """One task's people: which habits there are, and how a record and a request are written.

    Attributes:
        dimensions: kinds of habits.
        options: facet -> the habits people have about it, all equally common.
        several: the dimensions of a request that turns on two habits; empty if there are none.
        overriding: a dimension whose habit, unless it is "", decides alone.
        topics: subjects to choose from.
        clear: aspects everybody treats alike -> how.
    """

    task_name: str
    file: str

    def __init__(self) -> None:
        table = _read(self.file)
        self.task = LAMP_TASKS[self.task_name]
        self.table = table
        self.grammar = Grammar({**_people(), **_flat(table["rules"])})
        self.dimensions: tuple[str, ...] = tuple(table["dimensions"])
        self.several: tuple[str, ...] = tuple(table.get("several", ()))
        self.overriding: str = table.get("overriding", "")
        self.topics: tuple[str, ...] = tuple(table["rules"][table["topic_table"]])
        self.clear: dict[str, str] = table.get("clear", {})
        self.options: dict[Facet, tuple[str, ...]] = {
            (dimension, aspect): tuple(habits)
            for dimension in self.dimensions
            for aspect, habits in table["habits"][dimension].items()
        }

    @abstractmethod
    def write(self, item: Item, habits: Mapping[Facet, str], rng: Random) -> Written:
        """The text of an item by somebody with these habits."""

    def decisive(self, facets: tuple[Facet, ...], habits: Mapping[Facet, str]) -> tuple[Facet, ...]:
        """The facets an answer turns on; a record shows the habits of exactly these."""
        for facet in facets:
            if facet[0] == self.overriding and habits[facet]:
                return (facet,)
        return facets

    def scope(self, item: Item, rng: Random) -> Scope:
        """A fresh scope in which the per-topic rules stand under their short names."""
        rules = self.table["rules"]
        tables = [name for name, rule in rules.items() if isinstance(rule, dict)]
        aliases = {name: f"{name}.{item.topic}" for name in tables if item.topic in rules[name]}
        return Scope(rng, aliases=aliases)

    def lifetime(self, rng: Random) -> tuple[int, int]:
        """The first and the last tick of a life; a tick is a second, a day or a year."""
        year = rng.randint(*self.table["years"])
        span = round(self.table["span"] * rng.uniform(0.8, 1.2))
        if self.table["unit"] == "year":
            return year, year + span
        first = date(year, 1, 1).toordinal() + rng.randrange(365)
        if self.table["unit"] == "day":
            return first, first + span
        second = int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) + rng.randrange(365 * 86400)
        return second, second + span * 86400

    def date(self, tick: int) -> str:
        """A tick as the log would write it."""
        if self.table["unit"] == "year":
            return str(tick)
        if self.table["unit"] == "day":
            return date.fromordinal(tick).isoformat()
        return datetime.fromtimestamp(tick, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _flat(rules: Mapping[str, Any]) -> dict[str, list[str]]:
    flat: dict[str, list[str]] = {}
    for name, rule in rules.items():
        if isinstance(rule, dict):
            flat |= {f"{name}.{key}": alternatives for key, alternatives in rule.items()}
        else:
            flat[name] = rule
    return flat


@cache
def _read(file: str) -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath(file).read_text(encoding="utf-8"))


def _people() -> dict[str, list[str]]:
    people = _read("people.toml")
    return {
        "women": people["women"],
        "men": people["men"],
        "surname": people["surnames"],
        "town": people["towns"],
        "rival": people["towns"],
    }

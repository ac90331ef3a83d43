"""A seeded world of made-up users in the six task schemas, with the truth about it beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from enough.data.synthetic.domain import Domain
from enough.data.synthetic.labelled import Citations, Movies, Ratings
from enough.data.synthetic.life import Mix
from enough.data.synthetic.person import Person, make_person
from enough.data.synthetic.truth import Kind, Truth
from enough.data.synthetic.worded import Headlines, Titles, Tweets
from enough.errors import ConfigError, UnknownNameError
from enough.records import Dataset, Example

DOMAINS: tuple[type[Domain], ...] = (Citations, Movies, Ratings, Headlines, Titles, Tweets)

MOST_REQUESTS = 6
"""More would leave no habits that nobody asks about."""


@dataclass(frozen=True)
class WorldConfig:
    """What to make up.

    Attributes:
        seed: everything follows from it.
        users: users per task; the first ones stay the same when there are more.
        requests_per_user: examples per user.
        history: fewest and most records of a user, targets and later ones included.
        tasks: which LaMP tasks.
        dev_share: share of users (not examples) in "dev"; the others are "train".
        one, several, changed, clear, unseen: weights of the kinds of requests. In LaMP-1 a choice
            of two turns on one habit, so `several` counts as `one` there.
    """

    seed: int = 0
    users: int = 24
    requests_per_user: int = 4
    history: tuple[int, int] = (14, 30)
    tasks: tuple[str, ...] = tuple(domain.task_name for domain in DOMAINS)
    dev_share: float = 0.25
    one: float = 0.35
    several: float = 0.2
    changed: float = 0.2
    clear: float = 0.13
    unseen: float = 0.12

    def __post_init__(self) -> None:
        known = [domain.task_name for domain in DOMAINS]
        for task in self.tasks:
            if task not in known:
                raise UnknownNameError("task of the synthetic world", task, known)
        if not 1 <= self.requests_per_user <= MOST_REQUESTS:
            raise ConfigError(f"requests_per_user must be between 1 and {MOST_REQUESTS}")
        if self.users < 1 or not 0 <= self.dev_share <= 1:
            raise ConfigError("users must be at least 1 and dev_share between 0 and 1")
        if not 1 <= self.history[0] <= self.history[1]:
            raise ConfigError("history must be (fewest, most) with 1 <= fewest <= most")
        weights = [weight for _, weight in self.shares]
        if min(weights) < 0 or sum(weights) <= 0:
            raise ConfigError("the weights of the kinds must not be negative or all zero")

    @property
    def shares(self) -> tuple[tuple[Kind, float], ...]:
        """The kinds of requests with their weights."""
        weights = (self.one, self.several, self.changed, self.clear, self.unseen)
        kinds = (Kind.ONE, Kind.SEVERAL, Kind.CHANGED, Kind.CLEAR, Kind.UNSEEN)
        return tuple(zip(kinds, weights, strict=True))

    @property
    def mix(self) -> Mix:
        """The same for one person."""
        return Mix(self.shares, self.requests_per_user, self.history)


@dataclass(frozen=True)
class World:
    """Datasets by task name, and the truth, which no model may see."""

    datasets: dict[str, Dataset]
    truth: Truth


def make_world(config: WorldConfig | None = None) -> World:
    """The world of a configuration; the same each time."""
    config = config or WorldConfig()
    people = {name: _people(name, config) for name in config.tasks}
    everybody = [person for ones in people.values() for person in ones]
    truth = Truth(
        asked={request: asked for p in everybody for request, asked in p.asked.items()},
        habits={person.user: person.habits for person in everybody},
        items={record: placed for p in everybody for record, placed in p.items.items()},
    )
    return World({name: _dataset(name, ones, config) for name, ones in people.items()}, truth)


def _people(task: str, config: WorldConfig) -> list[Person]:
    """Each from a seed of their own, so that one more user changes nobody else."""
    seeds = [f"{config.seed}/{task}/{index}" for index in range(config.users)]
    return [make_person(_domain(task), config.mix, seed) for seed in seeds]


def _dataset(task: str, people: Sequence[Person], config: WorldConfig) -> Dataset:
    splits: dict[str, tuple[Example, ...]] = {"train": (), "dev": ()}
    for index, person in enumerate(people):
        in_dev = int((index + 1) * config.dev_share) > int(index * config.dev_share)
        splits["dev" if in_dev else "train"] += person.examples
    histories = {person.user: person.history for person in people}
    return Dataset(_domain(task).task, histories, splits)


@cache
def _domain(task: str) -> Domain:
    return next(domain for domain in DOMAINS if domain.task_name == task)()

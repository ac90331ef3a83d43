"""User-disjoint slices of examples.

In: examples, named shares and a seed. Out: one tuple of examples per name. A user's slice depends
on the seed and the user's name alone, so it stays the same when other users come or go, and no user
is ever in two slices.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from enough.errors import ConfigError, DataError
from enough.records import Dataset, Example

Slices = dict[str, tuple[Example, ...]]
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SliceConfig:
    """Shares of the users for the parts of a study; no user is in two of them.

    Attributes:
        tune: for fitting the generator.
        label: for the teacher's labels.
        select: for every choice that is made.
        report: for what is reported; taken from the split "dev", the others from "train".
        seed: another one deals anew.
    """

    tune: float = 0.25
    label: float = 0.45
    select: float = 0.1
    report: float = 0.2
    seed: int = 0

    def __post_init__(self) -> None:
        _check_shares(self.shares)

    @property
    def shares(self) -> dict[str, float]:
        """By name."""
        return {name: getattr(self, name) for name in ("tune", "label", "select", "report")}


def draw_examples(
    dataset: Dataset, split: str, count: int, seed: int, slices: SliceConfig | None = None
) -> list[Example]:
    """So many examples, drawn at random, in the order of the data; 0 takes all.

    Args:
        dataset: whose.
        split: of the data ("train", "dev"), or a slice of a study ("tune", "label", ...).
        count: how many.
        seed: for the draw.
        slices: how a study's slices are dealt.
    """
    shares = (slices or SliceConfig()).shares
    if split in shares and split not in dataset.splits:
        examples = study_slices(dataset, shares, (slices or SliceConfig()).seed)[split]
    else:
        examples = _split(dataset, split, f"; or a slice of its users: {', '.join(shares)}")
    if count == 0 or count >= len(examples):
        return list(examples)
    rng = np.random.default_rng(seed)
    return [examples[i] for i in sorted(rng.choice(len(examples), count, replace=False))]


def slice_by_user(examples: Iterable[Example], shares: Mapping[str, float], seed: int) -> Slices:
    """Deal the users out to slices that hold about these shares of them.

    Args:
        examples: what to deal out; inside a slice they keep their order.
        shares: slice name -> share of the users; shares that add up to less than 1 leave users out.
        seed: another seed deals anew.
    """
    _check_shares(shares)
    slices: dict[str, list[Example]] = {name: [] for name in shares}
    for example in examples:
        name = _slice_of(example.request.user, shares, seed)
        if name is not None:
            slices[name].append(example)
    return {name: tuple(chosen) for name, chosen in slices.items()}


def study_slices(
    dataset: Dataset,
    shares: Mapping[str, float],
    seed: int,
    *,
    learn_from: str = "train",
    report: str = "report",
    report_on: str = "dev",
) -> Slices:
    """Slices for a whole study: all but one from `learn_from`, the slice `report` from `report_on`.

    People of the log may be in both splits. Such a user is dealt out over all shares, and what the
    user did in the other split is used by nobody. Users of one split only cost nothing that way:
    they go to the reported slice or are dealt out over the others.
    """
    if report not in shares:
        raise ConfigError(f"shares need a slice {report!r}, taken from {report_on}")
    _check_shares(shares)
    learning = {name: share for name, share in shares.items() if name != report}
    whole = sum(learning.values())
    if not learning:
        raise ConfigError(f"shares need a slice beside {report!r}, taken from {learn_from}")
    only_learning = {name: share / whole for name, share in learning.items()}
    needed = f"; slices of users need {learn_from} and {report_on}"
    candidates = _split(dataset, learn_from, needed)
    reported = _split(dataset, report_on, needed)
    shared = _users(candidates) & _users(reported)
    slices: dict[str, list[Example]] = {name: [] for name in shares}
    for example in candidates:
        user = example.request.user
        name = _slice_of(user, shares if user in shared else only_learning, seed)
        if name is not None and name != report:
            slices[name].append(example)
    for example in reported:
        user = example.request.user
        if user not in shared or _slice_of(user, shares, seed) == report:
            slices[report].append(example)
    _LOG.info("%s", {name: len(chosen) for name, chosen in slices.items()})
    return {name: tuple(chosen) for name, chosen in slices.items()}


def returning(dataset: Dataset, slices: SliceConfig | None = None) -> dict[str, list[Example]]:
    """What "dev" asks for people who are dealt to a slice that somebody learns from, by that slice.

    Nobody learnt from these requests, but maybe from who asks them. With the slice "report" they
    are all of "dev", where shares add up to 1.
    """
    dealt = slices or SliceConfig()
    met = {
        user: name
        for name, part in study_slices(dataset, dealt.shares, dealt.seed).items()
        for user in _users(part)
        if name != "report"
    }
    found: dict[str, list[Example]] = {name: [] for name in dealt.shares if name != "report"}
    for example in _split(dataset, "dev"):
        if (name := met.get(example.request.user)) is not None:
            found[name].append(example)
    return found


def require_disjoint(slices: Mapping[str, Iterable[Example]]) -> None:
    """Raise if any user is in two of the slices."""
    owner: dict[str, str] = {}
    for name, examples in slices.items():
        for user in sorted(_users(examples)):
            if (other := owner.setdefault(user, name)) != name:
                raise DataError(f"user {user!r} is in both {other!r} and {name!r}")


def _slice_of(user: str, shares: Mapping[str, float], seed: int) -> str | None:
    digest = hashlib.blake2b(
        f"{seed}\0{user}".encode("utf-8", "surrogatepass"), digest_size=8
    ).digest()
    point = int.from_bytes(digest, "big") / 2**64
    reached = 0.0
    for name, share in shares.items():
        reached += share
        # Shares such as 0.1 + 0.2 + 0.7 may end a hair below 1.
        if point < reached or math.isclose(reached, 1):
            return name
    return None


def _check_shares(shares: Mapping[str, float]) -> None:
    for name, share in shares.items():
        if not (math.isfinite(share) and 0 < share <= 1):
            raise ConfigError(f"the share of {name!r} must be above 0 and at most 1, not {share}")
    if not shares or sum(shares.values()) > 1 + 1e-9:
        raise ConfigError(f"shares must add up to at most 1: {dict(shares)}")


def _split(dataset: Dataset, split: str, hint: str = "") -> tuple[Example, ...]:
    if split not in dataset.splits:
        known = ", ".join(dataset.splits) or "none"
        raise DataError(f"{dataset.task.name} has no split {split!r}; it has: {known}{hint}")
    return dataset.splits[split]


def _users(examples: Iterable[Example]) -> set[str]:
    return {example.request.user for example in examples}

"""Ways through requests that no reference had a hand in: what a second round is labelled along.

In: models of folds and the requests they never saw, or the retriever's order. Out: for every
request a whole profile, whose prefixes are states to label. A controller walks lucky ways through
the requests it was trained on: what it remembers of their references is in its choices.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from enough.controller.crossfit import Folds
from enough.controller.examples import LabelledRequest
from enough.controller.habit import PLAIN, Habit
from enough.controller.model import Controller
from enough.controller.rollout import roll_out
from enough.errors import DataError
from enough.prompts.profile_sequences import Profile
from enough.run_folders import write_json
from enough.teacher.components import TargetConfig
from enough.teacher.scored_tree import TreeOf

WALKS = "walks.json"
Walks = Mapping[str, Profile]
"""Name of a labelled request -> places of its pool in the order they are appended."""

_TOGETHER = 256  # requests that are rolled out at once


def out_of_fold_walks(
    learn: Sequence[LabelledRequest],
    select: Sequence[LabelledRequest],
    models: Sequence[Controller],
    folds: Folds,
    point: TargetConfig,
) -> dict[str, Profile]:
    """Each request walked to its horizon by the model of its fold, which never saw its user.

    Nobody of `select` is in any fold; the first model walks there.
    """
    found: dict[str, Profile] = {}
    for number, model in enumerate(models):
        of_fold = [request for request in learn if folds.of(request) == number]
        found |= walks_of(model, [*of_fold, *(select if number == 0 else ())], point)
    return found


def walks_of(
    model: Controller,
    requests: Sequence[LabelledRequest],
    point: TargetConfig,
    at_least: int | None = None,
    habit: Habit = PLAIN,
) -> dict[str, Profile]:
    """What a model's policy appends, walked on to so many records; None: to the horizon."""
    found = {}
    for start in range(0, len(requests), _TOGETHER):
        some = requests[start : start + _TOGETHER]
        features = [one.features for one in some]
        least = max(one.max_records for one in features) if at_least is None else at_least
        chosen = roll_out(model, features, point, least, habit)
        for one, (profile, _) in zip(some, chosen, strict=True):
            found[one.name] = profile
    return found


def retriever_walks(trees: Iterable[TreeOf]) -> dict[str, Profile]:
    """The pool's own order."""
    return {one.name: one.in_order for one in trees}


def write_walks(folder: Path, walks: Walks) -> None:
    """Beside the controller whose training they are from."""
    write_json(folder / WALKS, {name: list(profile) for name, profile in walks.items()})


def read_walks(folder: Path, names: Sequence[str]) -> dict[str, Profile]:
    """Those of the training of a controller on the requests of these names.

    Raises:
        DataError: if there are none, or they are of other requests.
    """
    try:
        found = json.loads((folder / WALKS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise DataError(
            f"{folder / WALKS}: is not there or cannot be read; it is written by a training with "
            'kind = "crossfit" and without a chooser'
        ) from None
    if missing := [name for name in names if name not in found]:
        raise DataError(
            f"{folder / WALKS}: has no walk through {missing[0]}; train on these labels"
        )
    return {name: tuple(map(int, found[name])) for name in names}

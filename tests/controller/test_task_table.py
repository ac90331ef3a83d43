"""Tasks that a controller has never heard of: refused, or decided like any other task."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from enough.controller.batches import Draw, unnamed
from enough.controller.crossfit import plain_targets
from enough.controller.labelled import Labelled
from enough.controller.optimisation import FitConfig
from enough.controller.rollout import roll_out
from enough.controller.task_table import OTHER, task_number
from enough.errors import ConfigError, UnknownNameError
from enough.teacher.components import TargetConfig
from tests.controller.toy import controller, features, labelled

POINT = TargetConfig(0.4, 0.1)


def test_a_row_of_its_own_or_that_of_any_other() -> None:
    tasks = {"LaMP-4": 0, "LaMP-7": 1, OTHER: 2}
    assert [task_number(tasks, name) for name in ("LaMP-7", "mail")] == [1, 2]
    with pytest.raises(UnknownNameError, match=r"'mail'.*LaMP-4"):
        task_number({"LaMP-4": 0}, "mail")


def test_an_unheard_of_task_is_decided_by_the_row_for_it() -> None:
    model = controller(("LaMP-7", OTHER))
    with torch.no_grad():
        model.worth[1] = 5.0  # whatever it is, take it
        model.worth[0] = -5.0
    known = features(4, task="LaMP-7")
    unknown = dataclasses.replace(known, task="mail")
    (nothing, _), (much, _) = roll_out(model, [known, unknown], POINT)
    assert nothing == ()
    assert len(much) == 3


def test_a_share_of_a_batch_is_shown_without_its_task() -> None:
    requests = [labelled(seed=seed) for seed in range(40)]
    rows = Labelled.of(requests, plain_targets(requests, POINT, "myopic"))
    tasks = {"LaMP-4": 0, "LaMP-7": 1, OTHER: 2}
    rng = np.random.default_rng(0)
    batch = rows.batch(range(40), tasks, Draw(), rng)
    hidden = unnamed(batch, 0.25, 2, rng)
    counts = torch.bincount(hidden.requests.task, minlength=3).tolist()
    assert counts[0] == 0 and sum(counts) == 40
    assert 4 <= counts[2] <= 16
    assert (batch.requests.task == 1).all(), "the batch itself is as it was"
    assert hidden.requests.records is batch.requests.records


@pytest.mark.parametrize("share", [-0.1, 1.0])
def test_shares_that_make_no_sense(share: float) -> None:
    with pytest.raises(ConfigError, match=r"fit\.unnamed"):
        FitConfig(unnamed=share)

"""The fitting itself: AdamW over all of the encoder's weights; the best epoch is kept.

In: a reader, lessons to fit and lessons of other users to choose an epoch on. Out: the reader as it
was after the epoch that these liked best, or before any; and the losses. The first is of the
encoder as it came, its cosines read as well as they can be, or any tuning would seem to help.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import torch
from torch import Tensor

from enough.encoder_tuning.config import EncoderTuneConfig
from enough.encoder_tuning.distilling import Reader, Rows, likenesses
from enough.encoder_tuning.lessons import Lesson, by_user
from enough.errors import ModelError
from enough.progress import OnStep, silent
from enough.tuning.fit import reproducible
from enough.tuning.schedule import Schedule
from enough.tuning.stepping import StepLosses

_READING_RATE = 0.05  # of a and b: two numbers a task, which have far to go
_DECAY = 0.01
_LONGEST_GRADIENT = 1.0
_ROUNDS = 100  # of a and b alone; they need a dozen
_SHOWN = 20  # steps whose mean loss is shown
_ADVICE = "lower learning_rate"


def fit(
    reader: Reader,
    lessons: Sequence[Lesson],
    chosen_on: Sequence[Lesson],
    config: EncoderTuneConfig,
    on_step: OnStep = silent,
) -> list[float]:
    """Train in place; the loss over `chosen_on` before, and after every epoch."""
    users = by_user(lessons)
    schedule = Schedule(
        samples=len(users),
        batch=config.batch,
        epochs=config.epochs,
        learning_rate=config.learning_rate,
        warmup=config.warmup,
        seed=config.seed,
    )
    optimiser = _Optimiser(reader, config)
    with reproducible(reader.device):
        with _read_at_its_best(reader, lessons, config):
            found = [judged(reader, chosen_on, config)]
            best, kept = found[0], copy.deepcopy(reader.state_dict())
        losses = StepLosses(schedule.steps, reader.device, _ADVICE)
        for step in range(schedule.steps):
            torch.manual_seed(schedule.torch_seed(step))
            _, places = schedule.members(step)
            some = [lesson for place in places for lesson in users[place]]
            losses.add(optimiser.step(some, schedule.rate(step)))
            on_step("tuning the encoder", step + 1, schedule.steps, losses.recent(_SHOWN))
            if (step + 1) % schedule.steps_per_epoch == 0:
                found.append(judged(reader, chosen_on, config))
                if found[-1] < best:
                    best, kept = found[-1], copy.deepcopy(reader.state_dict())
        reader.load_state_dict(kept)
    reader.eval()
    return found


@contextmanager
def _read_at_its_best(
    reader: Reader, lessons: Sequence[Lesson], config: EncoderTuneConfig
) -> Iterator[None]:
    """In here a and b are fitted to the encoder as it is; the training begins with its own.

    Where cosines tell nothing yet, the best a is near 0, and the encoder would learn nothing.
    """
    before = [one.detach().clone() for one in (reader.steepness, reader.offset)]
    fit_reading(reader, lessons, config)
    yield
    with torch.no_grad():
        reader.steepness.copy_(before[0])
        reader.offset.copy_(before[1])


def fit_reading(reader: Reader, lessons: Sequence[Lesson], config: EncoderTuneConfig) -> None:
    """Fit a and b alone."""
    rows = _read(reader, lessons, config)
    newton = torch.optim.LBFGS(
        [reader.steepness, reader.offset], max_iter=_ROUNDS, line_search_fn="strong_wolfe"
    )

    def closure() -> Tensor:
        newton.zero_grad()
        loss = reader.loss_of_rows(rows, config.temperature)
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    newton.step(closure)  # type: ignore[no-untyped-call]


class _Optimiser:
    """AdamW with a rate of its own for how cosines are read."""

    def __init__(self, reader: Reader, config: EncoderTuneConfig) -> None:
        self._reader = reader
        self._config = config
        self._adam = torch.optim.AdamW(
            [
                {"params": list(reader.model.parameters()), "weight_decay": _DECAY},
                {"params": [reader.steepness, reader.offset], "weight_decay": 0.0},
            ]
        )

    def step(self, lessons: Sequence[Lesson], rate: float) -> Tensor:
        """One step at this rate; the mean loss before it, []."""
        reader, config = self._reader, self._config
        reader.train()
        self._adam.zero_grad(set_to_none=True)
        with _half_precision(reader):
            loss = reader.loss(lessons, config.temperature, config.texts)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(reader.parameters(), _LONGEST_GRADIENT)
        encoder, reading = self._adam.param_groups
        encoder["lr"], reading["lr"] = rate, rate / config.learning_rate * _READING_RATE
        self._adam.step()
        return loss.detach()


@torch.no_grad()
def judged(reader: Reader, lessons: Sequence[Lesson], config: EncoderTuneConfig) -> float:
    """Mean loss of lessons that are not trained on."""
    mean = float(reader.loss_of_rows(_read(reader, lessons, config), config.temperature))
    if not math.isfinite(mean):
        raise ModelError(f"the loss is not a number; {_ADVICE}")
    return mean


def _read(reader: Reader, lessons: Sequence[Lesson], config: EncoderTuneConfig) -> Rows:
    """Lessons with their cosines as they are, a user's beside each other: they share texts."""
    ordered = [one for some in by_user(lessons) for one in some]
    with _half_precision(reader):
        cosines = likenesses(reader, ordered, config.texts)
    return reader.rows_of(ordered, cosines)


def _half_precision(reader: Reader) -> AbstractContextManager[None]:
    """bfloat16 products on a GPU; weights and moments stay float32."""
    kind = reader.device.type
    return torch.autocast(kind, torch.bfloat16, enabled=kind == "cuda")

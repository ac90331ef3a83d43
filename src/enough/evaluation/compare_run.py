"""A comparison of controllers with fixed lengths on held-out users: who is asked, who is compared.

In: data sets, a yardstick, controllers. Out: `JudgedRequest`s of two slices: one to choose the best
fixed length on, one to report. Users of the labels are in neither; that is checked where labels are
at hand. What such users ask later may be judged, too; it is kept apart.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from enough.baselines.fixed import FixedLength
from enough.config import require_at_least
from enough.controller.bundled import locate_controller
from enough.controller.checkpoint import load_controller
from enough.data.splits import SliceConfig, draw_examples, returning
from enough.errors import ConfigError, DataError
from enough.evaluation.comparison import Line, best_fixed, compare, with_best_fixed
from enough.evaluation.outcomes import JudgedRequest, Outcome, judge_selectors, outcomes
from enough.evaluation.yardstick import Yardstick, require_unseen
from enough.online.policy import ControllerPolicy
from enough.progress import OnStep, silent
from enough.protocols import Encoder, Generator, Selector
from enough.records import Dataset, Example
from enough.teacher.components import Scale, TargetConfig
from enough.teacher.preparation import Stages, cases_of
from enough.teacher.specificity import SpecificityConfig

log = logging.getLogger(__name__)
Drawn = tuple[Dataset, list[Example]]
"""What a slice asks of one data set."""


@dataclass(frozen=True, slots=True)
class CompareConfig:
    """What is compared on whom.

    Attributes:
        split: whose requests are reported.
        choose_on: on whose the best fixed length is chosen.
        requests: per task and slice, drawn at random; 0 takes all.
        lengths: fixed lengths to compare with.
        returning: also judge what "dev" asks for users dealt to the other slices, whom somebody may
            have learnt from; published apart, not reported. With the slice "report" and all of its
            requests only.
        slots: "all" measures specificity on every slot of a profile, "one" on a sampled one.
        seed: for the draw.
    """

    split: str = "report"
    choose_on: str = "select"
    requests: int = 50
    lengths: tuple[int, ...] = (0, 1, 2, 3, 5)
    returning: bool = False
    slots: Literal["one", "all"] = "all"
    seed: int = 0

    def __post_init__(self) -> None:
        require_at_least(self, {"requests": 0, "seed": 0})
        if not self.lengths or min(self.lengths) < 0:
            raise ConfigError("lengths must name at least one number of records, none negative")
        if self.returning and (self.split != "report" or self.requests):
            raise ConfigError(
                'returning adds to all of the slice "report": it needs split = "report" and '
                "requests = 0"
            )

    def within(self, max_records: int) -> CompareConfig:
        """Without lengths that nobody may have; they would be shorter ones under another name."""
        kept = tuple(length for length in self.lengths if length <= max_records)
        if kept != self.lengths:
            log.warning("at most %d records are taken: longer lengths are left out", max_records)
        return replace(self, lengths=kept or (max_records,))

    @property
    def fixed(self) -> dict[str, Selector]:
        """Selectors of the fixed lengths."""
        return {f"fixed k={k}": FixedLength(k) for k in self.lengths}


@dataclass(frozen=True, slots=True, eq=False)
class Contender:
    """A controller under a name, the operating point and, if known, the seed of its training."""

    name: str
    policy: ControllerPolicy
    point: TargetConfig
    seed: int | None = None


def load_contenders(folders: Mapping[str, Path], encoder: Encoder) -> list[Contender]:
    """Controllers by name, in folders or bundled."""
    found = []
    for name, folder in folders.items():
        trained = load_controller(locate_controller(folder), encoder=encoder.fingerprint)
        policy, seed = ControllerPolicy(trained, encoder), trained.report.get("seed")
        found.append(Contender(name, policy, trained.point, seed))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Everything that was chosen and scored.

    Attributes:
        reported, chosen_on: requests of the two slices.
        returning: requests of users whom somebody learnt from, by the slice of their earlier ones,
            if they were asked for.
        scales: of the yardstick.
        contenders: controllers.
        others: names of further selectors.
        config: which lengths stood beside them.
    """

    reported: Sequence[JudgedRequest]
    chosen_on: Sequence[JudgedRequest]
    scales: Mapping[str, Scale]
    contenders: Sequence[Contender]
    others: Sequence[str]
    config: CompareConfig
    returning: Mapping[str, Sequence[JudgedRequest]] = field(default_factory=dict)

    @property
    def points(self) -> list[TargetConfig]:
        """Operating points, each once; the default one where there is no controller."""
        return list(dict.fromkeys(one.point for one in self.contenders)) or [TargetConfig()]

    def rows(self, point: TargetConfig) -> list[Outcome]:
        """Reported rows of everybody who is for this operating point."""
        fixed = list(self.config.fixed)
        named = [one.name for one in self.contenders if one.point == point]
        chosen = best_fixed(outcomes(self.chosen_on, self.scales, point, fixed), fixed)
        rows = outcomes(self.reported, self.scales, point, [*fixed, *self.others, *named])
        return with_best_fixed(rows, *chosen)

    def lines(self, point: TargetConfig, task: str) -> list[Line]:
        """The table of a task at an operating point."""
        return compare(self.rows(point), task)


def run_comparison(
    datasets: Sequence[Dataset],
    yardstick: Yardstick,
    contenders: Sequence[Contender],
    *,
    stages: Stages,
    generator: Generator,
    config: CompareConfig,
    others: Mapping[str, Selector] | None = None,
    on_step: OnStep = silent,
) -> Comparison:
    """Choose and score on all slices; `others` are selectors that know no operating point."""
    yardstick.require_scales(datasets)
    teacher = yardstick.teacher
    config = config.within(teacher.search.max_records)
    contending = {one.name: one.policy for one in contenders} | dict(others or {})

    def drawn(split: str) -> list[Drawn]:
        found = []
        for dataset in datasets:
            some = draw_examples(dataset, split, config.requests, config.seed, teacher.slices)
            require_unseen(some, yardstick.seen, split)
            found.append((dataset, some))
        return found

    def judged(
        asked: Sequence[Drawn], selectors: Mapping[str, Selector], name: str = ""
    ) -> list[JudgedRequest]:
        found = judge_selectors(
            [case for dataset, some in asked for case in cases_of(dataset, some, stages, on_step)],
            config.fixed | dict(selectors),
            generator,
            max_records=teacher.search.max_records,
            specificity=SpecificityConfig(config.slots, audited=0),
            on_step=on_step,
        )
        if name and not found:
            raise DataError(f"there is no request in {name!r} to compare on; give more users")
        return found

    # All are drawn before any is scored: what is wrong with them shows at once.
    chosen_on, reported = drawn(config.choose_on), drawn(config.split)
    later = _later(datasets, teacher.slices) if config.returning else {}
    return Comparison(
        chosen_on=judged(chosen_on, {}, config.choose_on),
        reported=judged(reported, contending, config.split),
        returning={name: judged(asked, contending) for name, asked in later.items()},
        scales=yardstick.scales,
        contenders=contenders,
        others=tuple(others or ()),
        config=config,
    )


def _later(datasets: Sequence[Dataset], slices: SliceConfig) -> dict[str, list[Drawn]]:
    """By the slice in which the users had been met."""
    found: dict[str, list[Drawn]] = {}
    for dataset in datasets:
        for name, examples in returning(dataset, slices).items():
            found.setdefault(name, []).append((dataset, examples))
    return found

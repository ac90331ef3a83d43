"""Outcomes of a comparison that may be given away: all slices, no ids of the data.

In: what `enough compare` found. Out: rows with hashed ids of users and requests, and what a file of
them says about itself. The slice on which choices are made is there too, so that the best fixed
length can be chosen again from the file alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from enough.config import plain
from enough.evaluation.compare_run import Comparison
from enough.evaluation.evaluate_run import model_in_words
from enough.evaluation.outcomes import Outcome, outcomes
from enough.evaluation.published_rows import hashed, pseudonyms
from enough.labels.config import LabelConfig
from enough.retrieval.pools import RetrievalConfig

_RETURNING = "returning/"
OUTCOMES = "outcomes"
"""What the settings of such a file say it holds."""


@dataclass(frozen=True, slots=True)
class PublishedOutcome:
    """An `Outcome` without ids of records, of any slice of a comparison.

    Attributes:
        slice: of the study; "returning/label" holds later requests of users of the slice "label",
            and so on.
        is_reported: it is of the slice that is reported, not of the one on which the best fixed
            length is chosen, nor of users who return.
        length: k of a fixed length; None for a controller.
        seed: that a controller was trained with; None for a fixed length.
        records: how many.
    """

    slice: str
    is_reported: bool
    selector: str
    length: int | None
    seed: int | None
    task: str
    request: str
    user: str
    beta: float
    lambda_: float
    records: int
    tokens: int
    gain: float
    specificity: float
    net: float
    promised: float | None

    @property
    def met_in(self) -> str | None:
        """Of users who return: the slice of their earlier requests. None for all other rows."""
        is_later = self.slice.startswith(_RETURNING)
        return self.slice.removeprefix(_RETURNING) if is_later else None

    @property
    def is_for_choices(self) -> bool:
        """It is of the slice on which the best fixed length is chosen."""
        return not self.is_reported and self.met_in is None


def publish_outcomes(found: Comparison) -> list[PublishedOutcome]:
    """Outcomes of everybody at every operating point, of all slices of a comparison."""
    config = found.config
    fixed = dict(zip(config.fixed, dict.fromkeys(config.lengths), strict=True))
    seeds = {one.name: one.seed for one in found.contenders}
    rows: list[tuple[str, bool, Outcome]] = []
    for point in found.points:
        named = [one.name for one in found.contenders if one.point == point]
        asked = [*fixed, *found.others, *named]
        for name, is_reported, judged, who in (
            (config.split, True, found.reported, asked),
            *((_RETURNING + met, False, some, asked) for met, some in found.returning.items()),
            (config.choose_on, False, found.chosen_on, list(fixed)),
        ):
            of = outcomes(judged, found.scales, point, who)
            rows += [(name, is_reported, row) for row in of]
    names = pseudonyms((row.task, row.user) for _, _, row in rows)
    kept = ("selector", "task", "beta", "lambda_", "tokens", "gain", "specificity", "net")
    return [
        PublishedOutcome(
            slice=name,
            is_reported=is_reported,
            length=fixed.get(row.selector),
            seed=seeds.get(row.selector),
            request=hashed(row.request_id),
            user=names[row.task, row.user],
            records=len(row.profile),
            promised=row.promised,
            **{name: getattr(row, name) for name in kept},
        )
        for name, is_reported, row in rows
    ]


def _retrieval(config: RetrievalConfig) -> dict[str, Any]:
    table = plain(config)
    return table if config.encoder is None else {**table, "encoder": config.encoder_name}


def about_outcomes(
    found: Comparison, teacher: LabelConfig, digests: Mapping[str, str]
) -> dict[str, Any]:
    """What a file of published outcomes says about itself; no folders."""
    return {
        "holds": OUTCOMES,
        "compare": plain(found.config),
        "generator": model_in_words(teacher.generator),
        "retrieval": _retrieval(teacher.retrieval),
        "slices": plain(teacher.slices),
        "max_records": teacher.search.max_records,
        "scales": {task: dataclasses.asdict(scale) for task, scale in found.scales.items()},
        "controllers": [
            {"name": one.name, "seed": one.seed, **plain(one.point)} for one in found.contenders
        ],
        "data": dict(digests),
    }

"""The teacher's trees of reported requests: what stopping is judged by.

In: a laboratory and a number of requests. Out: labelled requests of users that nothing was learnt
from, in the study's units. Without visited states a tree is what the teacher searches by itself;
with them every state that the policy comes through is fully expanded, too (a second round, as
for training).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from enough.controller.labelled_folder import LabelledData, read_labelled
from enough.controller.visiting import visited_states
from enough.data.splits import draw_examples
from enough.diagnostics.laboratory import Laboratory
from enough.evaluation.yardstick import labelled_users, require_unseen
from enough.labels.config import LabelConfig
from enough.labels.folder import LabelFolder
from enough.labels.visits import Visits


def held_out(lab: Laboratory, requests: int, *, visited: bool) -> LabelledData:
    """Label so many reported requests of each task with the study's teacher; 0 takes all.

    The folders are named after the number, so diagnostics that want as many share them.
    """
    study = lab.study
    label = replace(
        study.label, split=study.config.split, requests=requests, seed=study.config.seed
    )
    _require_unseen(lab, label)
    name = f"held-out-{requests or 'all'}"
    first = study.shop.label(name, label)
    data = _read(lab, first)
    if not visited:
        return data
    visits = Visits(first, visited_states(study.trained, data.requests))
    return _read(lab, study.shop.label(f"{name}-visited", label, visits))


def _require_unseen(lab: Laboratory, label: LabelConfig) -> None:
    seen = labelled_users(LabelFolder(lab.study.labels))
    for dataset in lab.study.datasets.values():
        drawn = draw_examples(dataset, label.split, label.requests, label.seed, label.slices)
        require_unseen(drawn, seen, label.split)


def _read(lab: Laboratory, folder: Path) -> LabelledData:
    study = lab.study
    return read_labelled(
        folder,
        list(study.datasets.values()),
        study.stages.encoder,
        lab.on_step,
        scales=dict(study.scales),
    )

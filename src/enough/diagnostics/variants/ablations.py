"""Which parts of ENOUGH matter? Each is taken out, everything else stays.

In: the study's labels and reported requests. Out: a row for each request and variant (paper: Figure
ablations and Table app-extra-ablation). Full method and variants are trained alike, all from fresh
weights, because weights to begin with would fix the shape; J is everybody's at the study's own β
and λ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from enough.controller.checkpoint import Trained
from enough.controller.train_config import TrainConfig
from enough.diagnostics.diagnostic import Diagnostic
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.oracle.exact_requests import exact_requests, regrets
from enough.diagnostics.variants.ablation_rows import AblationConfig, AblationRow
from enough.diagnostics.variants.ablation_section import section
from enough.diagnostics.variants.ablation_variants import FULL, VARIANTS, Variant
from enough.diagnostics.variants.changed_settings import changed
from enough.online.policy import ControllerPolicy


def measure(lab: Laboratory, config: AblationConfig) -> list[AblationRow]:
    """Train everybody, let everybody choose, then judge what was chosen."""
    subjects = lab.subjects()
    size = (config.oracle_pool, config.oracle_records, config.oracle_requests)
    exact = exact_requests(lab, *size) if config.oracle_requests else []
    wanted, about = [], []
    for variant, policy, length in _policies(lab, config):
        known = regrets(lab, policy, exact)
        for subject, profile in zip(subjects, lab.chosen(policy, subjects), strict=True):
            request = subject.space.case.example.request
            wanted.append((subject, profile))
            about.append((variant, length, known.get((request.task.name, request.id))))
    tried = lab.try_profiles(wanted, "ablations")
    return [
        AblationRow(variant.title, variant.group, length, regret, one)
        for (variant, length, regret), one in zip(about, tried, strict=True)
    ]


def variants_of(full: TrainConfig, names: Sequence[str]) -> list[tuple[Variant, TrainConfig]]:
    """The named variants with their settings; one that changes nothing here is left out."""
    found = [(one, changed(full, one.changes)) for one in VARIANTS if one.name in names]
    return [(one, train) for one, train in found if one.is_forced or train != full]


def _policies(
    lab: Laboratory, config: AblationConfig
) -> list[tuple[Variant, ControllerPolicy, int | None]]:
    """Full method first; a length for those that are forced to one."""
    study = lab.study
    full = replace(study.config.train, start=None, chooser=None, targets=study.point)

    def trained(variant: Variant, train: TrainConfig) -> Trained:
        return study.shop.train(study.labels, f"variants/ablation-{variant.name}", train)

    whole = trained(FULL, full)
    found: list[tuple[Variant, ControllerPolicy, int | None]] = [(FULL, lab.policy(whole), None)]
    for variant, train in variants_of(full, config.variants):
        if variant.is_forced:
            length = chosen_length(lab, whole, config.lengths)
            found.append((variant, lab.policy(whole, forced_length=length), length))
        else:
            found.append((variant, lab.policy(trained(variant, train)), None))
    return found


def chosen_length(lab: Laboratory, trained: Trained, lengths: Sequence[int]) -> int:
    """The forced length with the highest mean J on the slice for choices; of equals the shorter."""
    subjects = lab.subjects(lab.study.config.choose_on)
    possible = sorted({min(length, lab.max_records) for length in lengths})
    profiles = {
        length: lab.chosen(lab.policy(trained, forced_length=length), subjects)
        for length in possible
    }
    wanted = [pair for found in profiles.values() for pair in zip(subjects, found, strict=True)]
    worth = lab.components(wanted, "ablations, forced length")

    def mean_net(length: int) -> float:
        pairs = zip(subjects, profiles[length], strict=True)
        return fmean(worth[subject.space.case.name, profile][2] for subject, profile in pairs)

    return max(possible, key=mean_net)


ABLATIONS = Diagnostic("ablations", AblationConfig, AblationRow, measure, section)

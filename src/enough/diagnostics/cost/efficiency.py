"""What does it cost? Milliseconds and tokens online, teacher calls and disk offline.

In: reported requests and the study's labels. Out: rows in long form, one number each (paper: Tables
efficiency, app-latency-components and app-offline-cost, Figure app-quality-training-latency).
"""

from __future__ import annotations

from enough.diagnostics.cost.efficiency_offline import offline_rows
from enough.diagnostics.cost.efficiency_online import decision_rows, online_rows
from enough.diagnostics.cost.efficiency_rows import MACHINE, EfficiencyConfig, EfficiencyRow
from enough.diagnostics.cost.efficiency_section import section
from enough.diagnostics.cost.machine import machine
from enough.diagnostics.diagnostic import Diagnostic
from enough.diagnostics.laboratory import Laboratory


def measure(lab: Laboratory, config: EfficiencyConfig) -> list[EfficiencyRow]:
    """Online, decisions, offline, and the machine."""
    subjects = lab.first_subjects(config.requests)
    named = machine(lab.study.label.generator.device)
    return [
        *online_rows(lab, subjects, config),
        *decision_rows(lab, subjects, config),
        *offline_rows(lab, config),
        *(EfficiencyRow(MACHINE, name, None, text=text) for name, text in named.items()),
    ]


EFFICIENCY = Diagnostic("efficiency", EfficiencyConfig, EfficiencyRow, measure, section)

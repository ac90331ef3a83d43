"""Every diagnostic by name, in the order of the report.

What a later one needs and an earlier one computes is remembered, so the order also saves time.
"""

from __future__ import annotations

from enough.diagnostics.cost.efficiency import EFFICIENCY
from enough.diagnostics.diagnostic import Diagnostic
from enough.diagnostics.fixed_length import FIXED_LENGTH
from enough.diagnostics.human_evaluation import HUMAN_EVALUATION
from enough.diagnostics.oracle.exact_oracle import EXACT_ORACLE
from enough.diagnostics.personal.interventions import INTERVENTIONS
from enough.diagnostics.personal.matching_audit import MATCHING_AUDIT
from enough.diagnostics.stopping.forced_continuation import FORCED_CONTINUATION
from enough.diagnostics.stopping.stop_calibration import STOP_CALIBRATION
from enough.diagnostics.stopping.stop_errors import STOP_ERRORS
from enough.diagnostics.stress.robustness_ladder import ROBUSTNESS_LADDER
from enough.diagnostics.stress.subgroups import SUBGROUPS
from enough.diagnostics.transfer.generator_scale import GENERATOR_SCALE
from enough.diagnostics.transfer.retriever_independence import RETRIEVER_INDEPENDENCE
from enough.diagnostics.variants.ablations import ABLATIONS
from enough.diagnostics.variants.sweeps import SWEEPS

_ALL = (
    FIXED_LENGTH,
    STOP_CALIBRATION,
    STOP_ERRORS,
    FORCED_CONTINUATION,
    INTERVENTIONS,
    MATCHING_AUDIT,
    EXACT_ORACLE,
    ABLATIONS,
    SWEEPS,
    ROBUSTNESS_LADDER,
    SUBGROUPS,
    RETRIEVER_INDEPENDENCE,
    GENERATOR_SCALE,
    EFFICIENCY,
    HUMAN_EVALUATION,
)

DIAGNOSTICS: dict[str, Diagnostic] = {one.name: one for one in _ALL}

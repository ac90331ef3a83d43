"""Can the stop probability be believed? Against the bounded teacher's decisions, state by state.

In: fully expanded states of held-out trees. Out: a row for each, with σ(Δ/T_s + b) of the
controller and I[Δ_T ≥ 0] of the teacher (paper: Figure app-stop-calibration; it has no b). This is
calibration to the bounded teacher, not to what is globally optimal.
"""

from __future__ import annotations

from enough.controller.calibration_measures import sigmoid
from enough.controller.crossfit import plain_targets
from enough.controller.judging import net_values, stop_decisions
from enough.controller.labelled import Labelled
from enough.diagnostics.diagnostic import Diagnostic
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.stopping.held_out_trees import held_out
from enough.diagnostics.stopping.stop_calibration_section import section
from enough.diagnostics.stopping.stop_states import StopCalibrationConfig, StopStateRow


def measure(lab: Laboratory, config: StopCalibrationConfig) -> list[StopStateRow]:
    """One row for each fully expanded state."""
    trained = lab.study.trained
    data = held_out(lab, config.requests, visited=config.visited)
    targets = plain_targets(data.requests, trained.point, "hindsight")
    labelled = Labelled.of(data.requests, targets)
    predicted = net_values(trained.model, labelled, trained.point, trained.habit)
    found = []
    for i, request in enumerate(data.requests):
        rows = labelled.rows[i]
        decided = stop_decisions(labelled.some([i]), predicted[i : i + 1])
        probability = sigmoid(decided.margins / trained.stop_temperature + trained.stop_offset)
        lengths = rows.length[rows.expanded[rows.is_full]]
        found += [
            StopStateRow(
                task=request.tree.of.task,
                request_id=request.tree.of.request,
                user=request.tree.of.user,
                records=int(lengths[state]),
                margin=float(decided.margins[state]),
                probability=float(probability[state]),
                teacher_stops=bool(decided.stops[state]),
            )
            for state in range(len(lengths))
        ]
    return found


STOP_CALIBRATION = Diagnostic(
    "stop-calibration", StopCalibrationConfig, StopStateRow, measure, section
)

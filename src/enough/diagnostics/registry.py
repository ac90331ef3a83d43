"""Every diagnostic by name, in the order of the report."""

from __future__ import annotations

from enough.diagnostics.diagnostic import Diagnostic
from enough.diagnostics.fixed_length import FIXED_LENGTH
from enough.diagnostics.human_evaluation import HUMAN_EVALUATION

_ALL = (FIXED_LENGTH, HUMAN_EVALUATION)

DIAGNOSTICS: dict[str, Diagnostic] = {one.name: one for one in _ALL}

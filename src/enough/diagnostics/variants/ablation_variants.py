"""What is taken out of ENOUGH, one part at a time, as a table of changed settings.

In: nothing. Out: `VARIANTS`. The first group is the paper's main figure, the second its appendix
table; the last has what this implementation does otherwise. To add one, add a line.
"""

from __future__ import annotations

from dataclasses import dataclass

from enough.diagnostics.variants.changed_settings import Change


@dataclass(frozen=True, slots=True)
class Variant:
    """One ablation.

    Attributes:
        name: of its folder, and in settings.
        title: in tables.
        group: which figure or table of the paper has it.
        changes: of the training.
        is_forced: always take the length that does best on the slice for choices, with the full
            method's controller.
    """

    name: str
    title: str
    group: str
    changes: tuple[Change, ...] = ()
    is_forced: bool = False


FULL = Variant("full", "Full ENOUGH", "full")
_FIGURE, _TABLE, _OURS = "main figure", "appendix table", "this implementation"
VARIANTS = (
    Variant(
        "myopic",
        "w/o long horizon (myopic targets)",
        _FIGURE,
        (("chooser", None), ("kind", "myopic")),
    ),
    Variant("forced-length", "w/o adaptive STOP (forced length)", _FIGURE, is_forced=True),
    Variant("no-specificity", "w/o user specificity (β = 0)", _FIGURE, (("targets.beta", 0.0),)),
    Variant("no-token-cost", "w/o token cost (λ = 0)", _FIGURE, (("targets.lambda_", 0.0),)),
    Variant("single-head", "Single net-value head", _TABLE, (("model.single_head", True),)),
    Variant("no-ranking-loss", "No ranking loss", _TABLE, (("loss.rank", 0.0),)),
    Variant("no-stop-loss", "No STOP loss", _TABLE, (("loss.stop", 0.0),)),
    Variant("unordered", "Permutation-invariant profile", _TABLE, (("model.ordered", False),)),
    Variant(
        "hindsight",
        "Hindsight targets (the paper's)",
        _OURS,
        (("chooser", None), ("kind", "hindsight")),
    ),
)

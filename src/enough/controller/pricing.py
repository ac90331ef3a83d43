"""The same controller for another price or another habit, without training.

In: a controller, and what is to change of λ, trust, lead and aversion. Out: a controller that
weighs the same values anew: Q_gain + β Q_spec − λ Q_cost, beside the same curves. What its heads
foresee is the best continuation at the λ they were trained for, so it is approximate, the more the
farther away. Its stop temperature and offset stay, too: they were fitted to the former margins.
"""

from __future__ import annotations

from dataclasses import replace

from enough.controller.checkpoint import Trained
from enough.controller.habit import Habit
from enough.errors import ConfigError


def priced(
    trained: Trained,
    *,
    lambda_: float | None = None,
    trust: float | None = None,
    lead: float | None = None,
    aversion: float | None = None,
) -> Trained:
    """What is None stays. Its report says which λ it was trained for.

    Raises:
        ConfigError: if it has a single net head, which knows one λ alone, or no curves for a trust
            below 1.
    """
    if trained.model.config.single_head and lambda_ is not None:
        raise ConfigError("a controller with a single net head knows the λ of its training alone")
    given = {"trust": trust, "lead": lead, "aversion": aversion}
    config = replace(
        trained.habit.config, **{name: value for name, value in given.items() if value is not None}
    )
    if config.trust < 1 and not trained.habit.curves:
        raise ConfigError(
            "it was trained with habit.trust = 1 and knows no average requests; train with less"
        )
    curves = trained.habit.curves if config.trust < 1 else {}
    point = trained.point if lambda_ is None else replace(trained.point, lambda_=lambda_)
    return replace(
        trained,
        point=point,
        habit=Habit(config, curves),
        report={**trained.report, "trained_for": {"lambda": trained.trained_for}},
    )

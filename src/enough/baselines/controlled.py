"""ENOUGH as a method: a trained controller chooses from the shared pool, then one call.

In: the folder of a controller. Out: a `Method`. A controller trained on myopic targets is the
myopic variant; one with a forced length does not ask STOP.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from enough.baselines.one_call import OneCall
from enough.baselines.tools import Tools
from enough.config import require_at_least
from enough.protocols import Method
from enough.teacher.backup import Kind


@dataclass(frozen=True, slots=True)
class EnoughConfig:
    """Settings.

    Attributes:
        controller: folder of `enough train`; None takes what was trained for this method.
        forced_length: take this many records, whatever STOP is worth; None decides freely.
        targets: what a controller is trained on where none is given.
    """

    controller: Path | None = None
    forced_length: int | None = None
    targets: Kind = "crossfit"

    def __post_init__(self) -> None:
        if self.forced_length is not None:
            require_at_least(self, {"forced_length": 0})

    def build(self, tools: Tools) -> Method:
        """Load the controller; one of another encoder or tokenizer is refused."""
        from enough.controller.checkpoint import load_controller  # noqa: PLC0415 (heavy)
        from enough.online.policy import ControllerPolicy  # noqa: PLC0415 (heavy)

        trained = load_controller(
            self.controller or tools.trained_folder,
            encoder=tools.encoder.fingerprint,
            tokenizer=tools.generator.tokenizer.fingerprint,
        )
        policy = ControllerPolicy(trained, tools.encoder, forced_length=self.forced_length)
        return OneCall(policy, tools)

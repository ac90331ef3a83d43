"""The models of a service, loaded: encoder, tokenizer, controller, and who writes answers.

In: a configuration. Out: `Machinery`. The encoder has no cache on disk here: what it makes of a
user's text is kept in the store and in that user's memory, and nowhere else.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from enough.controller.bundled import default_controller, locate_controller
from enough.controller.checkpoint import Trained, load_controller
from enough.online.personaliser import NO_CONTROLLER
from enough.prompts.prompter import Prompter
from enough.protocols import Encoder, Generator, Tokenizer
from enough.retrieval.encoders import load_encoder
from enough.service.chat import ProfileSection
from enough.service.config import ServeConfig
from enough.service.encoding import SharedEncoder
from enough.service.known_tasks import KnownTasks
from enough.service.local_writer import LocalWriter
from enough.service.memories import Memories
from enough.service.selecting import Selecting, SelectSettings
from enough.service.store_door import StoreDoor

log = logging.getLogger("enough.service")


@dataclass(frozen=True, slots=True, eq=False)
class Models:
    """The frozen models a service is built around.

    Attributes:
        encoder: of queries and records.
        tokenizer: of the generator.
        window: tokens of prompt and answer together.
        trained: the controller; None for the untrained fallback.
        generator: who writes answers locally, if that is loaded already.
    """

    encoder: Encoder
    tokenizer: Tokenizer
    window: int
    trained: Trained | None
    generator: Generator | None = None


def load_models(config: ServeConfig) -> Models:
    """Load what selecting needs; the generator's weights are not among it.

    Raises:
        ModelError: if a model cannot be had, or the controller was made with other ones.
    """
    from enough.generators.prompt_side import load_prompt_side  # noqa: PLC0415 (heavy)

    side = load_prompt_side(config.generator.prompt_model)
    name = config.retrieval.encoder
    encoder = load_encoder() if name is None else load_encoder(name)
    made_with = {"encoder": encoder.fingerprint, "tokenizer": side.tokenizer.fingerprint}
    trained: Trained | None = None
    if config.controller is not None:
        trained = load_controller(locate_controller(Path(config.controller)), **made_with)
    elif config.untrained is None:
        trained = default_controller(**made_with)
    if trained is None and config.untrained is None:
        log.warning(NO_CONTROLLER, config.retrieval.encoder_name, config.generator.prompt_model)
    return Models(encoder, side.tokenizer, config.window or side.window, trained)


class Machinery:
    """Everything that computes, shared by all requests."""

    def __init__(self, config: ServeConfig, models: Models, door: StoreDoor) -> None:
        self.tasks = KnownTasks(config.tasks)
        self.tokenizer = models.tokenizer
        self.section = ProfileSection(models.tokenizer.control_tokens)
        self.writer = LocalWriter(config.generator, models.generator)
        if config.answers == "local":
            self.writer.load()
        self._is_writer_needed = config.answers == "local"
        self.encoder = SharedEncoder(models.encoder)
        self.prompter = Prompter(models.tokenizer)
        self.memories = Memories(self.prompter, config.limits.memory_mb * 1_000_000)
        self.selecting = Selecting(
            self.encoder,
            self.memories,
            door,
            SelectSettings(
                models.window,
                config.retrieval.pool,
                config.max_records,
                config.retrieval.near_duplicate_threshold,
            ),
            trained=models.trained,
            untrained=config.untrained,
        )

    @property
    def is_loaded(self) -> bool:
        """Whether a request finds every model it needs."""
        return self.writer.is_loaded or not self._is_writer_needed

    def close(self) -> None:
        """Stop the encoder's thread."""
        self.encoder.close()

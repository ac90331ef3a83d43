"""The frozen parts that all methods of an evaluation share, loaded once and metered.

In: the shared settings. Out: `Equipment`, which hands out `Tools`. Answers, attention and scores
are remembered on disk, so a method that asks again what another one asked costs nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from enough.baselines.tools import Material, Tools
from enough.data.splits import draw_examples
from enough.evaluation.cells import Meters
from enough.evaluation.questions import Question, ask
from enough.evaluation.recipe import EvaluateConfig
from enough.generators.answer_cache import RememberingGenerator
from enough.generators.config import GeneratorConfig
from enough.generators.metering import Meter, MeteredGenerator, Reading
from enough.generators.score_cache import CachedGenerator
from enough.progress import OnStep
from enough.prompts.prompter import Prompt, Prompter
from enough.protocols import OpenGenerator, Tokenizer
from enough.records import Dataset, Record, Request
from enough.teacher.preparation import Stages

LoadGenerator = Callable[[GeneratorConfig], OpenGenerator]


class TimedPrompter(Prompter):
    """Writes the same prompts, and says how long that took."""

    def __init__(self, tokenizer: Tokenizer, meter: Meter) -> None:
        super().__init__(tokenizer)
        self._meter = meter

    def prompt(self, request: Request, records: Sequence[Record] = ()) -> Prompt:
        """The whole prompt as tokens."""
        started = time.perf_counter()
        found = super().prompt(request, records)
        passed = time.perf_counter() - started
        self._meter.add(Reading(seconds=passed, waited=passed))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Equipment:
    """What methods work with.

    Attributes:
        config: the shared settings.
        stages: leakage controls, retriever, encoder, matching.
        generator, reranker: remembered and metered.
        scorer: the generator's likelihoods for judging, remembered but on nobody's meter.
        meters: of both, and of the prompter.
        prompter: writes the generator's prompts.
        materials: lessons that were put together for methods that learn, by their tasks.
    """

    config: EvaluateConfig
    stages: Stages
    generator: OpenGenerator
    reranker: OpenGenerator
    scorer: CachedGenerator
    meters: Meters
    prompter: Prompter
    materials: dict[tuple[str, ...], Material] = field(default_factory=dict)

    @classmethod
    def of(cls, config: EvaluateConfig, stages: Stages, load: LoadGenerator) -> Equipment:
        """Load the generator, and the reranker where it is another model."""
        inner = load(config.generator)
        scorer = CachedGenerator(inner)
        remembering = RememberingGenerator(inner, scorer=scorer)
        other: OpenGenerator = remembering
        if config.reranker is not None:
            found = load(config.reranker)
            other = RememberingGenerator(found, scorer=CachedGenerator(found))
        meters = Meters(Meter(), Meter(), Meter())
        return cls(
            config=config,
            stages=stages,
            generator=MeteredGenerator(remembering, meters.generator),
            reranker=MeteredGenerator(other, meters.reranker),
            scorer=scorer,
            meters=meters,
            prompter=TimedPrompter(inner.tokenizer, meters.prompter),
        )

    def tools(self, seed: int, folder: Path | None) -> Tools:
        """For one method in one run."""
        return Tools(
            generator=self.generator,
            reranker=self.reranker,
            encoder=self.stages.encoder,
            prompter=self.prompter,
            max_records=self.config.max_records,
            seed=seed,
            folder=folder,
            decoding=self.config.decoding,
        )

    def questions(
        self, dataset: Dataset, split: str, requests: int, on_step: OnStep
    ) -> list[Question]:
        """Requests of a split as all methods meet them."""
        return ask(
            dataset,
            draw_examples(dataset, split, requests, 0, self.config.slices),
            self.stages,
            self.prompter,
            window=self.generator.window,
            max_records=self.config.max_records,
            on_step=on_step,
        )

"""What methods are made of, and how they are described, built and trained.

In: frozen parts, shared by all methods of a run. Out: `Tools`. A method is a dataclass of its
settings with `build`; one that learns has `train` too. Calls of generator and reranker are metered
by whoever hands the tools out, so a method has nothing to declare.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from enough.errors import ConfigError
from enough.progress import OnStep
from enough.prompts.prompter import Prompter
from enough.protocols import Answered, Asked, Budget, Encoder, Method, OpenGenerator, Tokens
from enough.records import Example, Pool, Record, Request


@dataclass(frozen=True, slots=True, eq=False)
class Tools:
    """Frozen parts, and where a trained method lies.

    Attributes:
        generator: answers.
        reranker: a language model that orders records; the same weights unless set otherwise.
        encoder: embeds queries and records.
        prompter: writes prompts for the generator.
        max_records: K_max.
        seed: for every draw.
        folder: of what was trained for this method; None where nothing is.
        decoding: "labels" answers a task with a closed answer set by scoring the set.
    """

    generator: OpenGenerator
    reranker: OpenGenerator
    encoder: Encoder
    prompter: Prompter
    max_records: int
    seed: int = 0
    folder: Path | None = None
    decoding: Literal["free", "labels"] = "free"

    def budget(self, request: Request, pool: Pool) -> Budget:
        """What may be spent on records of a pool that is not the shared one."""
        return self.prompter.budget(request, pool, self.generator.window, self.max_records)

    def answer(self, request: Request, records: Sequence[Record], reason: str = "") -> Answered:
        """One prompt with these records, one call of the generator."""
        prompt = self.prompter.prompt(request, records)
        if self.decoding == "labels" and request.task.labels:
            text = self._likeliest_label(request, records)
        else:
            (text,) = self.generator.generate([prompt.tokens], request.task.max_answer_tokens)
        return Answered(text, tuple(records), prompt.profile_tokens, reason=reason)

    def write_together(self, chosen: Sequence[tuple[Request, Sequence[Record]]]) -> None:
        """Let the generator write what `answer` would ask it for, in batches."""
        by_room: dict[int, list[Tokens]] = {}
        for request, records in chosen:
            if self.decoding == "free" or not request.task.labels:
                prompt = self.prompter.prompt(request, records).tokens
                by_room.setdefault(request.task.max_answer_tokens, []).append(prompt)
        for room, prompts in by_room.items():
            self.generator.generate(prompts, room)

    def _likeliest_label(self, request: Request, records: Sequence[Record]) -> str:
        """The label with the highest likelihood as a whole; of equals the first."""
        labels = request.task.labels
        sequences = [self.prompter.sequence(Example(request, label), records) for label in labels]
        means = self.generator.score(sequences)
        totals = means * [sequence.reference_length for sequence in sequences]
        return labels[int(totals.argmax())]

    @property
    def trained_folder(self) -> Path:
        """The folder of what was trained, which must be there."""
        if self.folder is None:
            raise ConfigError("this method is trained first: `enough train --method NAME`")
        return self.folder


class MethodConfig(Protocol):
    """The settings of a method, as a TOML table has them."""

    def build(self, tools: Tools) -> Method:
        """The method, ready to answer."""
        ...


@runtime_checkable
class Foreseeing(Protocol):
    """A method or selector that can have its model's work for many requests done together."""

    def foresee(self, many: Sequence[Asked]) -> None:
        """Do it before it is asked for each; a generator that remembers has it ready then."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """A request with its reference, to learn from."""

    asked: Asked
    example: Example


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Lessons of users to fit on, and of others to choose on; nobody is in both, or reported.

    Attributes:
        fit, select: the lessons.
        rated: what every record of them is worth, by feedback and generator: filled by the first
            method that rates them (`ropg.rate_material`), shared by all others.
    """

    fit: tuple[Lesson, ...]
    select: tuple[Lesson, ...]
    rated: dict[tuple[str, str], Any] = field(default_factory=dict, repr=False)


@runtime_checkable
class TrainableConfig(Protocol):
    """The settings of a method that learns."""

    def build(self, tools: Tools) -> Method:
        """The method, from `tools.trained_folder`."""
        ...

    def train(
        self, material: Material, tools: Tools, folder: Path, on_step: OnStep
    ) -> dict[str, Any]:
        """Fit it and write it into a new folder; returns what there is to tell, as plain values."""
        ...

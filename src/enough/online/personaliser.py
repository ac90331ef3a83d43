"""What an app calls: from a request and a history to the few records worth their tokens.

In: a request, everything its user has done, and perhaps a trained controller; without one the
untrained fallback decides. Out: `Selected`, with the prompt. Of the language model only tokenizer
and window are known here: its weights are never loaded, and selecting cannot reach it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

from enough.controller.bundled import default_controller, locate_controller
from enough.controller.checkpoint import Trained, load_controller
from enough.data.leakage import LeakageControls, LegalHistory
from enough.generators.config import GeneratorConfig
from enough.online.config import SelectConfig
from enough.online.finishing import Walked, finished
from enough.online.handed_in import checked_history, checked_request
from enough.online.policy import ControllerPolicy
from enough.online.selected import PolicyName, Selected
from enough.online.untrained import UntrainedConfig, UntrainedSelector
from enough.prompts.prompter import Prompter
from enough.protocols import PreparingRetriever, Retriever, Tokenizer
from enough.records import History, Record, Request
from enough.retrieval.pools import RetrievalConfig, build_stages

log = logging.getLogger(__name__)
NO_CONTROLLER = (
    "no controller: the bundled one was trained with another encoder or tokenizer than %s and that "
    "of %s. The untrained fallback selects, nothing personal is learnt; `enough train` makes one"
)


class Enough:
    """Selects records for requests; load it once, ask it often."""

    def __init__(
        self,
        policy: ControllerPolicy | UntrainedSelector,
        controls: LeakageControls,
        retriever: Retriever,
        tokenizer: Tokenizer,
        *,
        window: int,
        pool: int = 20,
        max_records: int = 10,
    ) -> None:
        self._policy = policy
        self._controls = controls
        self._retriever = retriever
        self._prompter = Prompter(tokenizer)
        self._window = window
        self._pool = pool
        self._max_records = max_records
        self._strange: set[str] = set()  # tasks the controller was not trained on, told once

    @classmethod
    def load(
        cls,
        controller: Path | str | None = None,
        *,
        retrieval: RetrievalConfig | None = None,
        generator: GeneratorConfig | None = None,
        untrained: UntrainedConfig | None = None,
        window: int | None = None,
        max_records: int = 10,
    ) -> Enough:
        """Load the encoder, the tokenizer and the controller.

        Args:
            controller: folder of `enough train`, or the name of a bundled one. None takes the
                bundled default; with a generator or retriever of other models, for which that
                one was not trained, the untrained fallback.
            retrieval: how pools are made; as in training, for a controller.
            generator: the model that will answer; only its tokenizer is loaded.
            untrained: settings of the fallback; given, it selects, and no controller does.
            window: tokens of prompt and answer together, in place of the generator's own.
            max_records: the most records of a profile.

        Raises:
            ModelError: if a model cannot be had, or the controller was made with other ones.
        """
        config = SelectConfig(
            retrieval or RetrievalConfig(),
            generator or GeneratorConfig(),
            untrained,
            window,
            max_records,
        )
        return cls.configured(config, controller)

    @classmethod
    def configured(cls, config: SelectConfig, controller: Path | str | None = None) -> Enough:
        """The same from settings; `controller` as for `load`."""
        from enough.generators.prompt_side import load_prompt_side  # noqa: PLC0415 (heavy)

        side = load_prompt_side(config.generator.prompt_model)
        controls, retriever = build_stages(config.retrieval)
        encoder = controls.encoder
        assert encoder is not None
        models = {"encoder": encoder.fingerprint, "tokenizer": side.tokenizer.fingerprint}
        trained: Trained | None = None
        if controller is not None:
            trained = load_controller(locate_controller(Path(controller)), **models)
        elif config.untrained is None:
            trained = default_controller(**models)
        if trained is None and config.untrained is None:
            log.warning(NO_CONTROLLER, config.retrieval.encoder_name, config.generator.prompt_model)
        return cls(
            UntrainedSelector(encoder, config.untrained or UntrainedConfig())
            if trained is None
            else ControllerPolicy(trained, encoder),
            controls,
            retriever,
            side.tokenizer,
            window=config.window or side.window,
            pool=config.retrieval.pool,
            max_records=config.max_records,
        )

    def select(self, request: Request, history: Sequence[Record]) -> Selected:
        """The records of the history that this request is better off with, and the prompt.

        Args:
            request: what is asked now.
            history: everything its user has done, in the order of the log; later records and
                copies of the request are found and left out.

        Raises:
            DataError: if a record is another user's, an id occurs twice, a date cannot be read, or
                the input does not have the task's form.
            UnknownNameError: if the controller does not know the task.
            BudgetError: if the request does not fit the window even without a profile.
        """
        return self.select_many([(request, history)])[0]

    def select_many(self, pairs: Iterable[tuple[Request, Sequence[Record]]]) -> list[Selected]:
        """The same for many requests: what is searched is embedded in large batches."""
        given = [(request, tuple(history)) for request, history in pairs]
        requests = [checked_request(request) for request, _ in given]
        histories = [checked_history(request, history) for request, history in given]
        legal = self._controls.legal_many(requests, histories)
        if isinstance(self._retriever, PreparingRetriever):
            self._retriever.prepare(requests, [left.records for left in legal])
        return [
            self._selected(request, history, left)
            for request, (_, history), left in zip(requests, given, legal, strict=True)
        ]

    def _selected(self, request: Request, history: History, legal: LegalHistory) -> Selected:
        pool = self._retriever.retrieve(request, legal.records, self._pool)
        budget = self._prompter.budget(request, pool, self._window, self._max_records)
        self._tell_if_strange(request.task.name)
        trace = self._policy.trace(request, pool, budget)
        policy: PolicyName = (
            "untrained" if isinstance(self._policy, UntrainedSelector) else "controller"
        )
        walked = Walked(history, legal, pool, budget, trace)
        return finished(self._prompter, request, walked, policy)

    def _tell_if_strange(self, task: str) -> None:
        """A controller with a row for any other task decides; whoever asks should know it."""
        policy = self._policy
        if isinstance(policy, ControllerPolicy) and task not in policy.tasks | self._strange:
            policy.require_task(task)  # not every controller guesses
            self._strange.add(task)
            known = ", ".join(sorted(policy.tasks))
            log.warning("no training on the task %r (but on %s): a guess decides", task, known)

"""Selections for many users: the store's nearest legal records, then the same decisions as always.

In: who asks what. Out: a `Selected`, equal to what `Enough.select` makes of the user's whole
history, as long as the encoder is frozen. Of records that were never near enough to be looked at
nothing is said. No language model is in reach.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from enough.controller.checkpoint import Trained
from enough.controller.features import featurise
from enough.controller.pricing import priced
from enough.data.leakage import LeakageControls, LegalHistory, Removal
from enough.errors import DataError
from enough.online.finishing import Walked, finished
from enough.online.handed_in import checked_history, checked_request
from enough.online.policy import ControllerPolicy
from enough.online.selected import PolicyName, Selected
from enough.online.untrained import UntrainedConfig, UntrainedSelector
from enough.protocols import Encoder, Floats
from enough.records import History, Pool, Record, Request
from enough.retrieval.dense import DenseRetriever
from enough.retrieval.ranking import retrieval_texts
from enough.service.decision_vectors import DecisionEmbedder, recall
from enough.service.encoding import SharedEncoder
from enough.service.measures import StageTimes
from enough.service.memories import Memories, RememberedEncoder, UserMemory, remember
from enough.service.store_door import StoreDoor
from enough.store.embedding import RecordEmbedder
from enough.store.search import legal_pool
from enough.store.values import Owner
from enough.tasks import Task

_MARGIN = 0.02  # for rounding, and white space that rules do not look at
_POLICIES = 16  # of controllers with another λ, kept


@dataclass(frozen=True, slots=True)
class Asked:
    """One question.

    Attributes:
        tenant: whose user it is.
        request: what is asked.
        history: handed in with the request; None takes the store's.
        policy: None takes the service's own.
        lambda_: another price of tokens than the controller's own.
        explained: whether trace and left-out records are wanted.
    """

    tenant: str
    request: Request
    history: History | None = None
    policy: PolicyName | None = None
    lambda_: float | None = None
    explained: bool = True


@dataclass(frozen=True, slots=True)
class SelectSettings:
    """What `Selecting` needs of a configuration."""

    window: int
    pool: int
    max_records: int
    near_duplicate_threshold: float


class Selecting:
    """Selects for all tenants; safe for many threads."""

    def __init__(
        self,
        encoder: SharedEncoder,
        memories: Memories,
        door: StoreDoor,
        settings: SelectSettings,
        *,
        trained: Trained | None,
        untrained: UntrainedConfig | None,
    ) -> None:
        self._encoder, self._memories, self._door = encoder, memories, door
        self._settings = settings
        self._trained, self._untrained = trained, untrained or UntrainedConfig()
        self._lock = threading.Lock()
        self._policies: OrderedDict[float | None, ControllerPolicy] = OrderedDict()
        if trained is not None:
            self._policies[None] = ControllerPolicy(trained, encoder)

    @property
    def lambda_(self) -> float | None:
        """λ the controller decides with; None without a controller."""
        return None if self._trained is None else self._trained.point.lambda_

    @property
    def trained(self) -> Trained | None:
        """The controller, if there is one."""
        return self._trained

    @property
    def untrained(self) -> UntrainedConfig:
        """What the fallback asks of a record."""
        return self._untrained

    def is_trained_on(self, task: str) -> bool:
        """Whether the controller has seen the task; elsewhere a guess decides."""
        return self._trained is not None and task in self._policies[None].tasks

    def select(self, asked: Asked, times: StageTimes) -> Selected:
        """The records this request is better off with.

        Raises:
            DataError: if the request or a record handed in is wrong.
            UnknownNameError: if the controller does not know the task.
            BudgetError: if the request does not fit the window even without a profile.
        """
        return self.look(asked, times)[0]

    def look(self, asked: Asked, times: StageTimes) -> tuple[Selected, Walked]:
        """The same, and what was known when it was decided: the pool, its tokens, the rules."""
        asked = self.checked(asked)
        with times.stage("encode"):
            vector = self._encoder.encode([asked.request.query], "query")[0]
        return self.decided(asked, vector, times)

    def checked(self, asked: Asked) -> Asked:
        """The question as it is to be answered; what is wrong with it is raised as by `select`."""
        if (request := checked_request(asked.request)) is not asked.request:
            asked = replace(asked, request=request)
        if self._policy_name(asked) == "controller":
            self._controller(asked.lambda_).require_task(asked.request.task.name)
        return asked

    def decided(self, asked: Asked, vector: Floats, times: StageTimes) -> tuple[Selected, Walked]:
        """What `look` gives for a checked question, its query's vector [dim] being there."""
        request, name = asked.request, self._policy_name(asked)
        memory = self._memories.of(asked.tenant, request.user)
        encoder = RememberedEncoder(self._encoder, self._memories, memory, (request.query, vector))
        with times.stage("retrieve"):
            controls = LeakageControls(
                encoder, self._settings.near_duplicate_threshold, recognised=memory.recognised
            )
            seen, legal, pool = self._found(asked, controls, encoder, vector)
            self._memories.recount(memory)  # also of those that do not fit the window
        with times.stage("decide"):
            settings = self._settings
            budget = memory.prompter.budget(request, pool, settings.window, settings.max_records)
            if name == "untrained":
                selector = UntrainedSelector(encoder, self._untrained)
                trace = selector.trace(request, pool, budget)
            else:
                if asked.history is None and pool:
                    owner = Owner(asked.tenant, request.task.name, request.user)
                    embedder = DecisionEmbedder(self._encoder, self._memories, memory)
                    recall(self._door.open(), owner, embedder, pool)
                features = featurise(request, pool, budget, encoder, memory.portraits)
                trace = self._controller(asked.lambda_).decide(features)
            self._memories.recount(memory)
        with times.stage("prompt"):
            walked = Walked(seen, legal, pool, budget, trace)
            made = finished(memory.prompter, request, walked, name, explained=asked.explained)
            return made, walked

    def prepare(
        self, memory: UserMemory, owner: Owner, task: Task, records: Sequence[Record]
    ) -> None:
        """Embed what decisions about new records will need, so that no request waits for it.

        Args:
            memory: their user's, taken before they were stored: if they are erased meanwhile, it
                is nobody's any more.
            owner: whose records.
            task: theirs.
            records: which.
        """
        patient = self._encoder.patient
        if self._trained is None:
            remember(self._memories, memory, retrieval_texts(task, tuple(records)), patient)
        else:
            embedder = DecisionEmbedder(patient, self._memories, memory)
            self._door.open().embed_beside(owner, embedder)

    def forget(self, tenant: str, user: str) -> None:
        """After something of a user was deleted: nothing of it stays in memory but single words.

        Those a tokenizer has met, whoever wrote them.
        """
        self._memories.drop(tenant, user)

    def _policy_name(self, asked: Asked) -> PolicyName:
        if asked.policy == "controller" and self._trained is None:
            raise DataError("no controller is loaded here; ask for 'untrained'", field="policy")
        name = asked.policy or ("untrained" if self._trained is None else "controller")
        if asked.lambda_ is not None:
            if name == "untrained":
                raise DataError("only a controller has a λ", field="lambda")
            if self._controlled.model.config.single_head:
                raise DataError("this controller has no separate cost", field="lambda")
        return name

    @property
    def _controlled(self) -> Trained:
        assert self._trained is not None
        return self._trained

    def _controller(self, lambda_: float | None) -> ControllerPolicy:
        """The controller, perhaps at another price than its own."""
        with self._lock:
            if (found := self._policies.get(lambda_)) is None:
                trained = self._controlled
                assert lambda_ is not None  # the one without is there from the start
                found = ControllerPolicy(priced(trained, lambda_=lambda_), self._encoder)
                self._policies[lambda_] = found
                if len(self._policies) > _POLICIES:
                    oldest = next(key for key in self._policies if key is not None)
                    del self._policies[oldest]
            return found

    def _unlike(self, near: Pool) -> set[str]:
        """Records that the search has shown to be no near duplicates of the query."""
        if not (self._encoder.is_symmetric and self._encoder.is_normalised):
            return set()
        surely = self._settings.near_duplicate_threshold - _MARGIN
        return {one.record.id for one in near if one.score < surely}

    def _found(
        self, asked: Asked, controls: LeakageControls, encoder: Encoder, vector: Floats
    ) -> tuple[History, LegalHistory, Pool]:
        """What was looked at, what of it is legal, and the pool."""
        request, limit = asked.request, self._settings.pool
        if asked.history is not None:
            history = checked_history(request, asked.history)
            legal = controls.legal(request, history)
            return history, legal, DenseRetriever(encoder).retrieve(request, legal.records, limit)
        store, owner = self._door.open(), Owner(asked.tenant, request.task.name, request.user)
        # What came of this very interaction also tells what a copy of it looks like.
        target = () if request.source_id is None else store.about(owner, request.source_id)
        targets = {record.id for record in target}
        removed: dict[str, Removal] = {}

        def rules(near: Pool) -> History:
            others = tuple(one.record for one in near if one.record.id not in targets)
            left = controls.legal(request, target + others, unlike=self._unlike(near))
            removed.update((one.record.id, one) for one in left.removals)
            return left.records

        fingerprint = RecordEmbedder(encoder, request.task).fingerprint
        pool = legal_pool(store, owner, vector, fingerprint, limit=limit, legal=rules)
        records = tuple(candidate.record for candidate in pool)
        legal = LegalHistory(records, tuple(removed.values()))
        return tuple(one.record for one in legal.removals) + records, legal, pool

"""Methods of `baselines` on the requests of a laboratory, built and trained as an evaluation does.

In: a laboratory, the kind of a method. Out: a `Method` and what it is asked. Its history is the
pool: a method that searches by itself orders the records that everybody else chooses from.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from enough.baselines.registry import METHODS, method_config, method_entry
from enough.diagnostics.laboratory import Laboratory
from enough.errors import ConfigError
from enough.evaluation.cells import Meters
from enough.evaluation.equipment import Equipment, TimedPrompter
from enough.evaluation.method_training import is_trained, train_method
from enough.evaluation.recipe import EvaluateConfig, MethodLine
from enough.generators.metering import Meter, MeteredGenerator
from enough.generators.score_cache import CachedGenerator
from enough.prompts.prompter import Prompter
from enough.protocols import Asked, Method, OpenGenerator
from enough.teacher.supervision import Subject

OURS = "enough"


@dataclass(frozen=True, slots=True)
class Contestant:
    """A method by kind.

    Attributes:
        kind: a name of `baselines.registry.METHODS`.
        k: how many records, for kinds that are told; None leaves it at their own default.
    """

    kind: str
    k: int | None = None

    def __post_init__(self) -> None:
        if method_entry(self.kind).group == "oracle":
            raise ConfigError(f"{self.kind!r} knows the reference; it cannot be compared with")

    @property
    def title(self) -> str:
        """For tables."""
        title = METHODS[self.kind].title
        return title if self.k is None else f"{title.removesuffix(' k')}, k = {self.k}"


def require_rivals(kinds: Iterable[str], where: str) -> None:
    """Refuse names that are no methods, and ENOUGH itself."""
    for kind in kinds:
        Contestant(kind)
        if kind == OURS:
            raise ConfigError(f"{where}: {OURS!r} is compared with them; leave it out")


def most_records(lab: Laboratory, one: Contestant) -> int:
    """K_max, or more for a rival that asks for more: k = 5 means five records in any study."""
    if one.kind == OURS:
        return lab.max_records
    settings = method_config(one.kind, {} if one.k is None else {"k": one.k}, one.title)
    return max(lab.max_records, getattr(settings, "k", 0))


def equipped(lab: Laboratory, one: Contestant, *, is_timed: bool = False) -> Equipment:
    """The laboratory's parts as an evaluation hands them out.

    Args:
        lab: whose.
        one: who gets them.
        is_timed: nothing is remembered, so that seconds are those of one prompt at a time.
    """
    study, meters = lab.study, Meters(Meter(), Meter(), Meter())
    inner = lab.generator.inner
    generator: OpenGenerator = lab.generator
    reranker: OpenGenerator = lab.generator
    prompter: Prompter = lab.prompter
    if is_timed:
        generator = MeteredGenerator(inner, meters.generator)
        reranker = MeteredGenerator(inner, meters.reranker)
        prompter = TimedPrompter(inner.tokenizer, meters.prompter)
    label = study.label
    config = EvaluateConfig(
        lessons=label.requests,
        max_records=most_records(lab, one),
        slices=label.slices,
        retrieval=label.retrieval,
        matching=label.matching,
        generator=label.generator,
        targets=study.point,
    )
    scorer = CachedGenerator(inner)
    return Equipment(config, study.stages, generator, reranker, scorer, meters, prompter)


def built(lab: Laboratory, equipment: Equipment, one: Contestant) -> Method:
    """The method, ready to answer; one that learns is trained first, in the study's folder."""
    study, table = lab.study, {} if one.k is None else {"k": one.k}
    if one.kind == OURS:
        controller = study.config.controller or study.shop.folder / "controller"
        table["controller"] = str(controller)  # type: ignore[assignment]
    line = MethodLine(one.kind, one.kind, method_config(one.kind, dict(table), one.title))
    seed, folder = study.config.train.seed, None
    if is_trained(line):
        folder = study.shop.folder / "methods" / f"{one.kind}-{study.label.retrieval.retriever}"
        datasets = list(study.datasets.values())
        train_method(line, equipped(lab, one), datasets, seed=seed, out=folder, on_step=lab.on_step)
    method: Method = line.settings.build(equipment.tools(seed, folder))
    return method


def asked(lab: Laboratory, one: Contestant, subject: Subject) -> Asked:
    """A request as a method meets it; all it may search is the pool."""
    case = subject.space.case
    request = case.example.request
    known = {candidate.record.id for candidate in case.pool}
    history = lab.study.datasets[request.task.name].history(request)
    records = tuple(record for record in history if record.id in known)
    most = min(most_records(lab, one), len(case.pool))
    return Asked(request, records, case.pool, replace(subject.space.budget, max_records=most))

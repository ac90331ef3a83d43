"""Does the gain depend on the retriever? The study again with the pools of several of them.

In: reported requests. Out: a row for each of them, every retriever and every method (paper: Figure
retriever-delta-taskwise). All methods of a retriever choose from the same pools.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from enough.config import require_at_least
from enough.diagnostics.diagnostic import About, Diagnostic
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.sections import Format, HeatMap, Panel, Section, Value, table
from enough.diagnostics.transfer.contestants import require_rivals
from enough.diagnostics.transfer.gaps import STRONGEST_NOTE, Gap, gaps, method_table, verdict
from enough.diagnostics.transfer.rerun import (
    Change,
    RerunRow,
    remade,
    rows_of_methods,
    with_pools_of,
)
from enough.errors import ConfigError, UnknownNameError
from enough.retrieval.registry import RETRIEVERS

_NAME = "retriever-independence"
PAPER = (("accuracy, ROUGE-1", 5, 6, "30 of 30", "+0.2", "+1.8"),)


@dataclass(frozen=True, slots=True)
class RetrieverConfig:
    """What is compared.

    Attributes:
        retrievers: names of `retrieval.registry.RETRIEVERS`; the default ones need no download.
        retrain: labels and a controller for every retriever's pools; without it the study's own
            controller chooses from them, which costs no label.
        label_requests: labelled per task where it is retrained; 0 as many as the study.
        lengths: k of the first k records of the pool.
        baselines: further methods of `baselines.registry.METHODS`, with default settings.
    """

    retrievers: tuple[str, ...] = ("dense", "bm25", "recency", "mmr")
    retrain: bool = True
    label_requests: int = 0
    lengths: tuple[int, ...] = (1, 3, 5)
    baselines: tuple[str, ...] = ("mmr", "recency")

    def __post_init__(self) -> None:
        require_at_least(self, {"label_requests": 0}, f"{_NAME}.")
        for name in self.retrievers:
            if name not in RETRIEVERS:
                raise UnknownNameError("retriever", name, RETRIEVERS)
        if not self.retrievers or len(set(self.retrievers)) < len(self.retrievers):
            raise ConfigError(f"{_NAME}.retrievers must name at least one, each once")
        if min(self.lengths, default=0) < 0 or not (self.lengths or self.baselines):
            raise ConfigError(f"{_NAME} needs lengths or baselines to compare with")
        require_rivals(self.baselines, f"{_NAME}.baselines")


def measure(lab: Laboratory, config: RetrieverConfig) -> list[RerunRow]:
    """Rows of every retriever."""
    rows = []
    for name in config.retrievers:
        if config.retrain:
            change = Change(retriever=name, label_requests=config.label_requests)
            other = remade(lab, f"retriever-{name}", change)
        else:
            other = with_pools_of(lab, name)
        rows += rows_of_methods(other, name, config.lengths, config.baselines)
    return rows


def section(rows: Sequence[RerunRow], config: RetrieverConfig, about: About) -> Section:
    """Δ by task and retriever."""
    found = gaps(rows, about.tasks, is_leading_only=True)
    requests = len({(row.tried.task, row.tried.request_id) for row in rows})
    return Section(
        name=_NAME,
        title="Retrievers",
        question="Does the gain depend on the retriever?",
        answer=f"{verdict(found)} ({len(config.retrievers)} retrievers, {requests} requests). "
        + _range(found),
        panels=(
            Panel(
                "Δ = ENOUGH − strongest baseline on the same pools, in points of each task's "
                "leading metric; errors have their sign turned.",
                table(_COLUMNS, map(_line, found)),
                (_map(found),),
            ),
            Panel(
                "All methods; quality is 100 for ENOUGH with the same retriever.",
                method_table(rows, about.tasks, "Retriever"),
            ),
        ),
        paper=(
            Panel(
                "Section Retriever Independence (the figure's single values are not in the text): "
                "BM25, Contriever, Qwen3-Embedding-0.6B, BGE-M3 and ColBERTv2, six tasks.",
                table(_PAPER_COLUMNS, PAPER),
            ),
        ),
        notes=(STRONGEST_NOTE, _trained_note(config), _POOL_NOTE, _INTERVAL_NOTE),
    )


_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Retriever", "text"),
    ("Task", "text"),
    ("Metric", "text"),
    ("ENOUGH", "quality"),
    ("Strongest baseline", "text"),
    ("Its value", "quality"),
    ("Δ", "signed"),
)
_PAPER_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Metrics", "text"),
    ("Retrievers", "count"),
    ("Tasks", "count"),
    ("Δ above zero", "text"),
    ("Least Δ", "text"),
    ("Greatest Δ", "text"),
)
_POOL_NOTE = (
    "Baselines with an order of their own (recency, MMR) order the retriever's pool, not the whole "
    "history, so that everybody has the same candidates."
)
_INTERVAL_NOTE = "Intervals: 95%, users drawn with replacement, the same draws on both sides."


def _trained_note(config: RetrieverConfig) -> str:
    if config.retrain:
        return "Labels and controller are made anew on every retriever's pools."
    return (
        "The study's controller chooses from all pools; it was trained on those of its own "
        "retriever alone, so other rows are a transfer and not what a retrained one would reach."
    )


def _range(found: Sequence[Gap]) -> str:
    if not found:
        return ""
    least, greatest = (pick(found, key=lambda gap: gap.delta.mean) for pick in (min, max))
    return (
        f"Δ runs from {least.delta.mean:+.1f} ({least.variant}, {least.task}) to "
        f"{greatest.delta.mean:+.1f} points ({greatest.variant}, {greatest.task})."
    )


def _line(gap: Gap) -> tuple[Value, ...]:
    compared = (gap.ours, gap.rival, gap.theirs, gap.delta)
    return (gap.variant, gap.task, gap.metric, *compared)


def _map(found: Sequence[Gap]) -> HeatMap:
    tasks = tuple(dict.fromkeys(gap.task for gap in found))
    variants = tuple(dict.fromkeys(gap.variant for gap in found))
    value = {(gap.task, gap.variant): gap.delta.mean for gap in found}
    return HeatMap(
        "Δ by task and retriever, in points",
        tasks,
        variants,
        tuple(tuple(value.get((task, one)) for one in variants) for task in tasks),
        format="signed",
        is_diverging=True,
    )


RETRIEVER_INDEPENDENCE = Diagnostic(_NAME, RetrieverConfig, RerunRow, measure, section)

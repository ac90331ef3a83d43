"""How much faster tree scoring is than padded batches, on real requests.

In: a data folder and a generator. Out: `ScoringBench`, whose `ratio` compares the scorer the model
gets with the naive one on the same sequences in the same run, and whose `bound` is what sharing
allows at best: naive tokens over distinct tokens.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from enough.bench.search_like import search_like_profiles
from enough.data.leakage import LeakageControls
from enough.errors import DataError
from enough.generators.causal_lm import CausalLM
from enough.generators.hf import HFGenerator
from enough.generators.naive import NaiveScorer
from enough.generators.packed import PackedScorer
from enough.generators.scorer_choice import SCORERS, batch_tokens, exact_scorer
from enough.generators.scoring import Scorer
from enough.generators.token_trie import distinct_tokens, input_tokens, packs
from enough.prompts.prompter import Prompter
from enough.protocols import Retriever, ScoredSequence
from enough.records import Dataset, Example, Record

_POOL, _REPLACEMENTS = 20, 3


@dataclass(frozen=True, slots=True)
class ScoringBench:
    """What one run measured. Rates are per second of wall time.

    Attributes:
        naive_sample: profiles the naive scorer was timed on, drawn at random from all of them.
        bound: naive tokens over distinct tokens, the gain that sharing allows.
        max_abs_diff: largest difference of the two scorers over that sample.
        tree_share_of_peak: useful operations per second over those of a large matrix product.
    """

    device: str
    dtype: str
    batch_tokens: int
    parameters: int
    requests: int
    profiles: int
    naive_sample: int
    naive_profiles_per_s: float
    tree_profiles_per_s: float
    ratio: float
    bound: float
    share_of_bound: float
    naive_tokens: int
    distinct_tokens: int
    max_abs_diff: float
    peak_tflops: float | None
    naive_share_of_peak: float | None
    tree_share_of_peak: float | None


@dataclass(frozen=True, slots=True)
class TreeShape:
    """The search whose trees are imitated."""

    max_records: int = 10
    actions: int = 8
    width: int = 4


def bench_sequences(
    dataset: Dataset,
    retriever: Retriever,
    prompter: Prompter,
    *,
    requests: int,
    shape: TreeShape,
    seed: int,
) -> list[ScoredSequence]:
    """Sequences of the search trees of some requests with full pools."""
    rng = np.random.default_rng(seed)
    controls = LeakageControls(encoder=None)
    found: list[ScoredSequence] = []
    examples = [example for split in dataset.splits.values() for example in split]
    for i in rng.permutation(len(examples)):
        example = examples[i]
        legal = controls.legal(example.request, dataset.history(example.request)).records
        pool = [c.record for c in retriever.retrieve(example.request, legal, _POOL)]
        if len(pool) < _POOL:
            continue
        others = {record.id: _like(record, dataset, example, rng) for record in pool}
        profiles = search_like_profiles(
            pool,
            others,
            max_records=shape.max_records,
            actions=shape.actions,
            width=shape.width,
            rng=rng,
        )
        found += [prompter.sequence(example, profile) for profile in profiles]
        requests -= 1
        if requests == 0:
            return found
    raise DataError(f"too few requests of {dataset.task.name} have {_POOL} legal records")


def _like(
    record: Record, dataset: Dataset, example: Example, rng: np.random.Generator
) -> list[Record]:
    """Other users' records of about the same length, which is all that matters for speed."""
    owners = [owner for owner in dataset.histories if owner != example.request.user]
    if not owners:
        raise DataError(f"{dataset.task.name}: replacements need at least one other user")
    some = rng.choice(len(owners), min(40, len(owners)), replace=False)
    drawn = [dataset.histories[owners[i]] for i in some]
    size = len(record.context) + len(record.action)
    pool = [other for history in drawn for other in history[:3]]
    pool.sort(key=lambda other: abs(len(other.context) + len(other.action) - size))
    return pool[:_REPLACEMENTS]


def run_bench(
    generator: HFGenerator,
    sequences: Sequence[ScoredSequence],
    *,
    requests: int,
    naive_share: float,
    tokens: int | None = None,
    seed: int = 0,
) -> ScoringBench:
    """Time the tree scorer on everything, the naive one on a random share, and compare.

    Args:
        generator: its own scorer is compared with the naive one.
        sequences: of some requests' trees.
        requests: how many requests these are.
        naive_share: share of them for the naive scorer.
        tokens: computed together by either scorer; what suits the device, by default.
        seed: for the share.
    """
    lm = generator.lm
    tokens = tokens or batch_tokens(lm)
    tree_scorer = SCORERS[exact_scorer(lm.config)](lm, tokens)
    count = max(1, round(naive_share * len(sequences)))
    drawn = np.random.default_rng(seed).choice(len(sequences), count, replace=False)
    sample = [sequences[i] for i in drawn]
    naive_scorer = NaiveScorer(lm, tokens)
    for scorer in (naive_scorer, tree_scorer):
        scorer.score(sample[:16])  # warm-up
    naive, naive_seconds = _timed(naive_scorer, sample)
    tree, tree_seconds = _timed(tree_scorer, sequences)
    peak = _peak_flops(lm) if lm.device.type == "cuda" else None
    naive_rate, tree_rate = count / naive_seconds, len(sequences) / tree_seconds
    naive_tokens = sum(len(input_tokens(s)) for s in sequences)
    distinct = distinct_tokens(sequences)
    naive_flops = sum(_flops(lm, np.arange(len(input_tokens(s)))) for s in sample)
    tree_flops = sum(_flops(lm, p.positions) for p in packs(sequences, tokens))
    if isinstance(tree_scorer, PackedScorer):
        tree_flops -= _skipped_flops(lm, distinct - sum(s.reference_length for s in sequences))
    return ScoringBench(
        device=torch.cuda.get_device_name() if peak else f"{platform.machine()} CPU",
        dtype=str(lm.dtype).removeprefix("torch."),
        batch_tokens=tokens,
        parameters=sum(p.numel() for p in lm.model.parameters()),
        requests=requests,
        profiles=len(sequences),
        naive_sample=count,
        naive_profiles_per_s=naive_rate,
        tree_profiles_per_s=tree_rate,
        ratio=tree_rate / naive_rate,
        bound=naive_tokens / distinct,
        share_of_bound=tree_rate / naive_rate / (naive_tokens / distinct),
        naive_tokens=naive_tokens,
        distinct_tokens=distinct,
        max_abs_diff=float(np.abs(naive - tree[drawn]).max()),
        peak_tflops=peak / 1e12 if peak else None,
        naive_share_of_peak=naive_flops / naive_seconds / peak if peak else None,
        tree_share_of_peak=tree_flops / tree_seconds / peak if peak else None,
    )


def _timed(
    scorer: Scorer, sequences: Sequence[ScoredSequence]
) -> tuple[NDArray[np.float64], float]:
    started = time.perf_counter()
    scores = scorer.score(sequences)
    return scores, time.perf_counter() - started


def _flops(lm: CausalLM, positions: NDArray[np.int64]) -> float:
    """Useful floating-point operations for tokens at these depths; the output layer not counted."""
    config = lm.config
    linear = _linear_weights(lm.decoder)
    width = config.num_attention_heads * config.head_dim
    attention: float = 4.0 * width * config.num_hidden_layers * float((positions + 1).sum())
    return 2.0 * linear * len(positions) + attention


def _skipped_flops(lm: CausalLM, rows: int) -> float:
    """What packed scoring leaves out: the last feed-forward block of rows that predict nothing."""
    return 2.0 * _linear_weights(lm.decoder.layers[-1].mlp) * rows


def _linear_weights(module: torch.nn.Module) -> int:
    linear = (part for part in module.modules() if isinstance(part, torch.nn.Linear))
    return sum(part.weight.numel() for part in linear)


def _peak_flops(lm: CausalLM) -> float:
    """The rate of a large square matrix product in the model's precision, on random data."""
    size = 8192
    left, right = (torch.randn(size, size, device=lm.device, dtype=lm.dtype) for _ in range(2))

    def product() -> None:
        torch.mm(left, right)

    return 2.0 * size**3 / _seconds_on_device(product)


def _seconds_on_device(work: Callable[[], None], repeats: int = 20) -> float:
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(repeats):
        work()
    torch.cuda.synchronize()
    return (time.perf_counter() - started) / repeats

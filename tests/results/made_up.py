"""Made-up rows of both kinds, of any size: methods with a known quality and a known cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from enough.config import plain
from enough.evaluation.metrics import example_scores
from enough.evaluation.published_outcomes import OUTCOMES, PublishedOutcome
from enough.evaluation.published_rows import ANSWERS
from enough.evaluation.rows import Row, Seconds
from enough.evaluation.table_values import Setup, Shown
from enough.tasks import LAMP_TASKS, Task

SETUP = Setup("a tiny model", "a bag of words; pools of 20", "the generator", "written freely")
METHODS = {  # title, group, records, tokens, quality, calls, whether records stand in one prompt
    "bm25": ("BM25", "main", 5, 600, 0.60, 1, True),
    "dense": ("dense", "main", 5, 590, 0.61, 1, True),
    "rankgpt": ("RankGPT", "main", 5, 605, 0.62, 2, True),
    "icr": ("ICR", "main", 5, 610, 0.63, 3, True),
    "ic-ralm": ("IC-RALM", "main", 5, 640, 0.52, 5, False),
    "replug": ("REPLUG", "main", 5, 640, 0.57, 5, False),
    "rspg-pre": ("RSPG-Pre", "main", 4, 480, 0.62, 1, True),
    "purple": ("PURPLE", "main", 5, 575, 0.64, 1, True),
    "enough": ("ENOUGH", "main", 2, 260, 0.66, 1, True),
    "empty": ("empty", "diagnostic", 0, 0, 0.45, 1, True),
    "fixed-1": ("fixed-1", "diagnostic", 1, 120, 0.55, 1, True),
    "fixed-3": ("fixed-3", "diagnostic", 3, 360, 0.60, 1, True),
    "fixed-5": ("fixed-5", "diagnostic", 5, 600, 0.61, 1, True),
    "oracle-record": ("best record (oracle)", "oracle", 1, 120, 0.8, 1, True),
}
LENGTHS = {"empty": 0, "fixed-1": 1, "fixed-3": 3, "fixed-5": 5}


def answers_about(tasks: Sequence[str], methods: Sequence[str] = tuple(METHODS)) -> dict[str, Any]:
    shown = [Shown(name, METHODS[name][0], METHODS[name][1]) for name in methods]  # type: ignore[arg-type]
    return {
        "holds": ANSWERS,
        "tasks": [plain(LAMP_TASKS[name]) for name in tasks],
        "methods": [{**asdict(one), "length": LENGTHS.get(one.name)} for one in shown],
        "setup": asdict(SETUP),
        "against": "enough",
        "empty": "empty",
        "beta": 0.4,
        "lambda": 0.2,
    }


def made_up_rows(
    tasks: Sequence[str], users: int = 30, seed: int = 0, methods: Sequence[str] = tuple(METHODS)
) -> list[Row]:
    """Two requests a user; trained methods run twice."""
    rng = np.random.default_rng(seed)
    rows = []
    for name in tasks:
        task = LAMP_TASKS[name]
        ease = rng.normal(size=users)
        wanted = [_reference(task, rng) for _ in range(2 * users)]
        for method in methods:
            _, _, records, tokens, quality, calls, one_prompt = METHODS[method]
            for run in (0, 1) if method in ("enough", "purple") else (0,):
                for i, reference in enumerate(wanted):
                    is_hit = rng.random() < quality + 0.1 * ease[i // 2]
                    answer = reference if is_hit else _reference(task, rng)
                    spent = max(0, round(tokens + 40 * ease[i // 2])) if records else 0
                    gain = (quality - 0.45) * 3 + rng.normal(0, 0.3) if records else 0.0
                    rows.append(
                        Row(
                            method=method,
                            task=name,
                            seed=run,
                            request_id=f"q{i}",
                            user=f"u{i // 2}",
                            answer=answer,
                            reference=reference,
                            scores=example_scores(task, answer, reference),
                            records=tuple(f"r{n}" for n in range(records)),
                            profile_tokens=spent,
                            one_prompt=one_prompt,
                            root_stop=not records,
                            calls=calls,
                            rerank_calls=0,
                            prompt_tokens=200 + spent,
                            seconds=Seconds(0.01, 0.01 * calls, 0.2, 0.001),
                            log_likelihood_gain=gain / 2 if one_prompt else None,
                            gain=gain if one_prompt else None,
                            specificity=0.1 * gain if one_prompt else None,
                            net=1.04 * gain - 0.2 * spent / 1024 if one_prompt else None,
                        )
                    )
    return rows


def _reference(task: Task, rng: np.random.Generator) -> str:
    if task.labels:
        return str(rng.choice(task.labels))
    return " ".join(rng.choice(["omg", "late", "bus", "train", "again", "coffee"], size=5))


def made_up_outcomes(
    tasks: Sequence[str], users: int = 30, lambdas: Sequence[float] = (0.1, 0.2, 1.0, 3.0)
) -> list[PublishedOutcome]:
    """Both slices; the first task's history is worth nothing. ENOUGH has three seeds."""
    rng = np.random.default_rng(1)
    rows = []
    for is_reported in (True, False):
        for task in tasks:
            worth = 0.0 if task == tasks[0] else 0.4
            for i in range(2 * users):
                base, tokens = rng.normal(0, 0.2), int(rng.integers(80, 160))
                chosen: list[tuple[str, int | None, int | None, int, float]] = [
                    (f"fixed k={k}", k, None, k, worth * np.log1p(k) + base * (k > 0))
                    for k in (0, 1, 2, 3, 5)
                ]
                if is_reported:
                    k = 2 if worth else int(rng.random() < 0.2)
                    gain = worth * 1.6 + 0.8 * base if k else 0.0
                    chosen += [(f"s{s}", None, s, k, gain + 0.02 * s * (k > 0)) for s in range(3)]
                for lambda_ in lambdas:
                    for name, length, seed, records, gain in chosen:
                        net = gain * 1.04 - lambda_ * records * tokens / 1024
                        rows.append(
                            PublishedOutcome(
                                slice="report" if is_reported else "select",
                                is_reported=is_reported,
                                selector=name if seed is None else f"{name} λ{lambda_:g}",
                                length=length,
                                seed=seed,
                                task=task,
                                request=f"q{i}" if is_reported else f"p{i}",
                                user=f"{i // 2:03}" if is_reported else f"x{i // 2:03}",
                                beta=0.4,
                                lambda_=lambda_,
                                records=records,
                                tokens=records * tokens,
                                gain=float(gain),
                                specificity=0.1 * float(gain),
                                net=float(net),
                                promised=None if seed is None else float(net) + 0.05,
                            )
                        )
    return rows


def outcomes_about() -> dict[str, Any]:
    return {"holds": OUTCOMES, "generator": "a tiny model", "max_records": 10}

"""A trained controller's weights, laid out for deciding instead of learning.

In: a trained controller. Out: `DecisionWeights`, float32 and transposed, what reads the same vector
side by side, constants multiplied in. The runtimes for one request and for many share it.

Shapes: D embedding, S static features, H hidden, T tasks, O outputs (3, or 1 of a single head; one
more with a habit, for what that adds).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from enough.controller.checkpoint import Trained
from enough.protocols import Floats

_EPSILON = np.float32(1e-5)  # of torch's LayerNorm


@dataclass(frozen=True, slots=True, eq=False)
class DecisionWeights:
    """Biases are named after what they are added to.

    A sigmoid is (1 + tanh(x / 2)) / 2: the halves inside are in the gates' weights, and the outer
    one of the reset gate is in what it gates. What goes into LayerNorm has mean 0 already.

    Attributes:
        tasks: number of each task.
        heads: of the attention over what remains.
        record: [D, H].
        action: [D, H].
        static: [S, H]; None where the numbers are not used.
        task_record: of every task, with the records' bias, [T, H].
        norm_scale: [H].
        norm_shift: [H].
        query: [D, H].
        task_query: [T, H].
        per_record: keys, values, first layer and, if order counts, the GRU's input, [H, 3H or 6H].
        per_record_bias: [3H or 6H].
        asks_query: [H, H]; attention's 1/√size is in all of `asks`.
        asks_profile: [H, H].
        asks_bias: [H].
        from_query: to what actions and STOP know of the state, [H, 2H].
        from_profile: if order counts to the GRU's next step, then as from_query, [H, 5H or 2H].
        from_rest: [H, 2H].
        from_budget: [3, 2H].
        recur_bias: [3H], or none of it.
        context_bias: [2H].
        of_mean: weight [H, H] and bias [H] of the mean of a profile; None if order counts.
        dynamic: [4, H]; None where the numbers are not used.
        outcomes: second layers of actions and of STOP, then the net value of both, [H, 2·O + 2].
        outcomes_bias: [2·O + 2].
        price: how cost enters those columns, [2·O + 2].
        worth: what numbers of a record add to those columns, task by task, [T, S, 2·O + 2]; None
            where they add nothing.
        stop_shifts: what the habit adds to STOP's net value, by task and records taken, [T, K].
        lead: what it asks of a record out of order.
        has_habit: whether it asks or adds anything; values are compared as they are otherwise.
    """

    tasks: dict[str, int]
    heads: int
    record: Floats
    action: Floats
    static: Floats | None
    task_record: Floats
    norm_scale: Floats
    norm_shift: Floats
    query: Floats
    task_query: Floats
    per_record: Floats
    per_record_bias: Floats
    asks_query: Floats
    asks_profile: Floats
    asks_bias: Floats
    from_query: Floats
    from_profile: Floats
    from_rest: Floats
    from_budget: Floats
    recur_bias: Floats
    context_bias: Floats
    of_mean: tuple[Floats, Floats] | None
    dynamic: Floats | None
    outcomes: Floats
    outcomes_bias: Floats
    price: Floats
    worth: Floats | None
    stop_shifts: Floats
    lead: np.float32
    has_habit: bool


def decision_weights(trained: Trained) -> DecisionWeights:
    """Lay out a controller's weights."""
    config = trained.model.config
    h = config.hidden
    w = {k: v.numpy().astype(np.float32) for k, v in trained.model.state_dict().items()}
    reads = [(w[f"{name}.weight"], w[f"{name}.bias"]) for name in ("keys", "values", "first")]
    recur, recur_bias = np.zeros((0, h), np.float32), np.zeros(0, np.float32)
    if config.ordered:
        half, whole = np.full(h, 0.5, np.float32), np.ones(h, np.float32)
        gates = np.concatenate([half, half, whole])  # reset, update, fresh
        reads.append((w["profile.weight_ih_l0"] * gates[:, None], w["profile.bias_ih_l0"] * gates))
        recur = w["profile.weight_hh_l0"] * np.float32(0.5)
        recur_bias = w["profile.bias_hh_l0"] * np.float32(0.5)
    both = np.concatenate([w["context.weight"], w["stop_first.weight"]])  # of [q; z; r; b]
    scale = np.float32(1 / math.sqrt(h // config.heads))
    shifts, lead = _stop_shifts(trained), np.float32(trained.habit.config.lead)
    has_habit = bool(lead) or bool(shifts.any())
    outcomes, outcomes_bias, price = _outcomes(w, trained, has_habit=has_habit)
    return DecisionWeights(
        tasks=trained.model.tasks,
        heads=config.heads,
        record=_centred(_laid(w["record.weight"])),
        action=_centred(_laid(w["action.weight"])),
        static=_centred(_laid(w["static.weight"])) if config.features else None,
        task_record=_centred(w["task.weight"] + w["record.bias"]),
        norm_scale=w["norm.weight"],
        norm_shift=w["norm.bias"],
        query=_laid(w["query.weight"]),
        task_query=w["task.weight"] + w["query.bias"],
        per_record=_laid(np.concatenate([weight for weight, _ in reads])),
        per_record_bias=np.concatenate([bias for _, bias in reads]),
        asks_query=_laid(w["asks.weight"][:, :h] * scale),
        asks_profile=_laid(w["asks.weight"][:, h:] * scale),
        asks_bias=w["asks.bias"] * scale,
        from_query=_laid(both[:, :h]),
        from_profile=_laid(np.concatenate([recur, both[:, h : 2 * h]])),
        from_rest=_laid(both[:, 2 * h : 3 * h]),
        from_budget=_laid(both[:, 3 * h :]),
        recur_bias=recur_bias,
        context_bias=np.concatenate([w["context.bias"], w["stop_first.bias"]]),
        of_mean=None if config.ordered else (_laid(w["profile.weight"]), w["profile.bias"]),
        dynamic=_laid(w["dynamic.weight"]) if config.features else None,
        outcomes=outcomes,
        outcomes_bias=outcomes_bias,
        price=price,
        worth=_worth(w["worth"], trained, has_habit=has_habit)
        if config.features and config.additive
        else None,
        stop_shifts=shifts,
        lead=lead,
        has_habit=has_habit,
    )


def _outcomes(
    w: dict[str, Floats], trained: Trained, *, has_habit: bool
) -> tuple[Floats, Floats, Floats]:
    """Second layers, their biases and what cost adds; the net values are further columns."""
    stop, stop_bias = w["stop_second.weight"].copy(), w["stop_second.bias"].copy()
    point = trained.point
    mix, cost = np.ones(1, np.float32), np.zeros(1, np.float32)
    if not trained.model.config.single_head:
        mix = np.array([1, point.beta, -point.lambda_], np.float32)
        cost = np.array([0, 0, 1], np.float32)
        stop[2] = stop_bias[2] = 0  # STOP costs what was spent; nothing is predicted
    act, act_bias = w["second.weight"], w["second.bias"]
    none = np.zeros((int(has_habit), act.shape[1]), np.float32)  # what a habit adds is known
    zero = none[:, 0]
    return (
        _laid(np.concatenate([act, none, stop, none, (mix @ act)[None], (mix @ stop)[None]])),
        np.concatenate([act_bias, zero, stop_bias, zero, [mix @ act_bias], [mix @ stop_bias]]),
        np.concatenate([cost, zero, cost, zero, [mix @ cost], [mix @ cost]]),
    )


def _worth(worth: Floats, trained: Trained, *, has_habit: bool) -> Floats:
    """In the columns of `outcomes`: of an action, of STOP, then the net value of both."""
    stop = worth.copy()
    mix = np.ones(1, np.float32)
    if not trained.model.config.single_head:
        mix = np.array([1, trained.point.beta, -trained.point.lambda_], np.float32)
        stop[..., 2] = 0  # STOP costs what was spent
    none = np.zeros((*worth.shape[:2], int(has_habit)), np.float32)
    net, net_stop = (worth @ mix)[..., None], (stop @ mix)[..., None]
    return np.concatenate([worth, none, stop, none, net, net_stop], axis=2)


def _stop_shifts(trained: Trained) -> Floats:
    of_tasks = [trained.habit.stop_shifts(task, trained.point) for task in trained.model.tasks]
    return np.array(of_tasks, np.float32)


def _centred(weight: Floats) -> Floats:
    """With rows of mean 0: what LayerNorm would subtract from a sum of them is not there."""
    return np.asarray(weight - weight.mean(axis=1, keepdims=True), np.float32)


def _laid(weight: Floats) -> Floats:
    """[out, in] as [in, out], rows in memory order."""
    return np.ascontiguousarray(weight.T)


def encoded_records(
    w: DecisionWeights,
    records: Floats,
    actions: Floats,
    static: Floats,
    task: int | NDArray[np.int64],
) -> Floats:
    """Every record by itself, [..., N, H], of one pool or of several."""
    mixed: Floats = records @ w.record
    mixed += actions @ w.action
    mixed += w.task_record[task]
    if w.static is not None:
        mixed += static @ w.static
    variance = (mixed * mixed).sum(axis=-1, keepdims=True) / np.float32(len(w.norm_scale))
    mixed /= np.sqrt(variance + _EPSILON)
    mixed *= w.norm_scale
    mixed += w.norm_shift
    np.maximum(mixed, 0, out=mixed)
    return mixed

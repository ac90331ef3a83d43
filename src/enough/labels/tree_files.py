"""Scored trees on disk: one safetensors file for a chunk of requests.

Columns, all requests of the chunk joined; `node_starts` and `slot_starts` say where each begins:

| column | type | what |
|---|---|---|
| lengths | u8 [n] | records of each profile |
| places | u8 [sum of lengths] | their places in the pool |
| log_likelihood | f32 [n] | ℓ_i(S) |
| is_initial | bool [n] | roots and their children |
| slot_node | i32 [m] | the profile, counted within its request |
| slot | u8 [m] | r |
| slot_without | f32 [m] | ℓ_i(S₋ᵣ) |
| slot_controls | f32 [m, K⁻] | ℓ_i with each control in slot r |
| slot_counts | bool [m] | false for slots that were only looked at to learn a variance |
| noise | f32 [k] | differences between two ways of computing one likelihood |

The header's `enough` entry is JSON: format number, names and tokens of every request, calls made
and saved, fingerprints of the models. Equal trees are equal bytes.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from enough.config import from_table
from enough.errors import DataError
from enough.run_folders import write_whole
from enough.teacher.scored_tree import ScoredTree, TreeOf
from enough.teacher.specificity import SlotScores

FORMAT = 1


@dataclass(frozen=True, slots=True)
class ChunkCounts:
    """What a chunk took.

    Attributes:
        profiles: nodes of all trees, each labelled with its components.
        calls: distinct profiles, own and counterfactual, that were scored.
        tokens: tokens the generator had to compute for them.
        gated, looked_up, unmatched: see `specificity.Savings`.
        same_tokens: profiles of other records but with the same tokens, scored once.
    """

    profiles: int
    calls: int
    tokens: int
    gated: int
    looked_up: int
    unmatched: int
    same_tokens: int


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """The frozen models a file was made with: likelihoods, token costs, pools and controls."""

    generator: str
    tokenizer: str
    encoder: str


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The content of one file.

    Attributes:
        trees: one for each request of the chunk that fits the window.
        left_out: ids of those that do not.
        counts: what it took.
        noise: differences between two ways of computing one likelihood, [k].
        made_with: the models.
    """

    trees: tuple[ScoredTree, ...]
    left_out: tuple[str, ...]
    counts: ChunkCounts
    noise: NDArray[np.float32]
    made_with: Fingerprints


def write_part(path: Path, part: Part) -> None:
    """Write a file that is there whole or not at all."""
    trees = part.trees
    columns: dict[str, NDArray[Any]] = {
        "lengths": _joined([t.lengths for t in trees], np.uint8),
        "places": _joined([t.places for t in trees], np.uint8),
        "log_likelihood": _joined([t.log_likelihood for t in trees], np.float32),
        "is_initial": _joined([t.is_initial for t in trees], np.bool_),
        "slot_node": _joined([t.slots.node for t in trees], np.int32),
        "slot": _joined([t.slots.slot for t in trees], np.uint8),
        "slot_without": _joined([t.slots.without for t in trees], np.float32),
        "slot_counts": _joined([t.slots.counts_for for t in trees], np.bool_),
        "slot_controls": _wide([t.slots.controls for t in trees]),
        "node_starts": _starts([len(t.lengths) for t in trees]),
        "slot_starts": _starts([len(t.slots.node) for t in trees]),
        "noise": part.noise,
    }
    header = {
        "format": FORMAT,
        "requests": [dataclasses.asdict(tree.of) for tree in trees],
        "left_out": part.left_out,
        "counts": dataclasses.asdict(part.counts),
        "made_with": dataclasses.asdict(part.made_with),
    }
    save_columns(path, columns, header)


def read_part(path: Path) -> Part:
    """Read a file of trees."""
    columns, header = load_columns(path)
    if header.get("format") != FORMAT:
        raise DataError(
            f"label format {header.get('format')}, this version reads {FORMAT}", path=path
        )
    requests = [from_table(one, TreeOf, str(path)) for one in header["requests"]]
    nodes, slots = columns["node_starts"], columns["slot_starts"]
    ends = np.concatenate([[0], np.cumsum(columns["lengths"], dtype=np.int64)])
    trees = []
    for i, of in enumerate(requests):
        n, m = slice(nodes[i], nodes[i + 1]), slice(slots[i], slots[i + 1])
        found = SlotScores(
            node=columns["slot_node"][m],
            slot=columns["slot"][m],
            without=columns["slot_without"][m],
            controls=columns["slot_controls"][m],
            counts_for=columns["slot_counts"][m],
        )
        trees.append(
            ScoredTree(
                of=of,
                lengths=columns["lengths"][n],
                places=columns["places"][ends[nodes[i]] : ends[nodes[i + 1]]],
                log_likelihood=columns["log_likelihood"][n],
                is_initial=columns["is_initial"][n],
                slots=found,
            )
        )
    counts = from_table(header["counts"], ChunkCounts, str(path))
    made_with = from_table(header["made_with"], Fingerprints, str(path))
    return Part(tuple(trees), tuple(header["left_out"]), counts, columns["noise"], made_with)


def save_columns(path: Path, columns: dict[str, NDArray[Any]], header: dict[str, Any]) -> None:
    """A safetensors file with one JSON header; it appears under its name when it is whole."""
    from safetensors.numpy import save  # noqa: PLC0415 (an extra)

    # One header entry: several would be written in an order that changes from run to run.
    text = json.dumps(header, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    contiguous = {name: np.ascontiguousarray(column) for name, column in columns.items()}
    write_whole(path, save(contiguous, {"enough": text}))


def load_columns(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Columns and header of such a file."""
    from safetensors import SafetensorError, safe_open  # noqa: PLC0415 (an extra)

    try:
        with safe_open(path, framework="numpy") as file:
            header = json.loads((file.metadata() or {}).get("enough", "{}"))
            return {name: file.get_tensor(name) for name in file.keys()}, header  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise DataError(f"cannot be read ({error}); delete it and run again", path=path) from None


def _joined(parts: Sequence[NDArray[Any]], dtype: type) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype)


def _wide(parts: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Rows of K⁻ columns; requests without any control have none to add."""
    width = max((part.shape[1] for part in parts), default=0)
    return np.concatenate([np.zeros((0, width), np.float32), *(p for p in parts if len(p))])


def _starts(lengths: Sequence[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *lengths], dtype=np.int64)

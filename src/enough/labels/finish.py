"""The end of a labelling run: scales, manifest, targets. No generator is needed for any of it.

In: a folder whose trees are all there. Out: `manifest.json`, then the targets of one (β, λ) with a
manifest of their own. Manifests are written last and hold nothing that changes from run to run.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from typing import Any

from enough.errors import DataError
from enough.labels.config import LabelConfig
from enough.labels.folder import LabelFolder, checksum
from enough.labels.target_files import TargetCounts, write_targets
from enough.labels.tree_files import ChunkCounts, Fingerprints, read_part
from enough.run_folders import read_json, write_json
from enough.teacher.calibration import Calibration, calibrate, calibration_subset
from enough.teacher.estimator_variance import estimator_variance
from enough.teacher.scored_tree import ScoredTree

FORMAT = 1


def finish_trees(
    folder: LabelFolder, config: LabelConfig, frozen: dict[str, Any] | None = None
) -> None:
    """Write the manifest of all trees: parts, counts, scales, noise, variances.

    One that is there is right as long as scales are fixed in the same way. A second round keeps the
    `frozen` scales of the first.
    """
    calibrated_with = dataclasses.asdict(config.calibration)
    if folder.manifest_file.exists():
        if read_json(folder.manifest_file)["calibrated_with"] == calibrated_with:
            return
        folder.manifest_file.unlink()
    names: dict[str, list[str]] = defaultdict(list)
    totals: dict[str, int] = defaultdict(int)
    left_out: list[str] = []
    made_with: set[Fingerprints] = set()
    matched: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for path in folder.parts():
        part = read_part(path)
        made_with.add(part.made_with)
        left_out += part.left_out
        for tree in part.trees:
            names[tree.of.task].append(tree.of.request)
            matched[tree.of.task][0] += sum(bool(found) for found in tree.of.controls)
            matched[tree.of.task][1] += len(tree.of.controls)
        for key, value in dataclasses.asdict(part.counts).items():
            totals[key] += value
    if len(made_with) > 1:
        raise DataError(
            "its parts were made with different models: "
            + "; ".join(sorted(str(dataclasses.asdict(one)) for one in made_with)),
            path=folder.path,
        )
    measured, variances = _measure(folder, config, names)
    manifest = {
        "format": FORMAT,
        "made_with": dataclasses.asdict(made_with.pop()) if made_with else {},
        "requests": {task: len(found) for task, found in names.items()},
        "left_out": left_out,
        "counts": {field.name: totals[field.name] for field in dataclasses.fields(ChunkCounts)},
        "matched_pool_records": {
            task: found / count if count else 0.0 for task, (found, count) in matched.items()
        },
        "calibration": frozen or {task: dataclasses.asdict(one) for task, one in measured.items()},
        "calibrated_with": dataclasses.asdict(config.calibration),
        "specificity_variance": variances,
        "bytes": sum(path.stat().st_size for path in folder.parts()),
        "parts": {path.name: checksum(path) for path in folder.parts()},
    }
    write_json(folder.manifest_file, manifest)


def _measure(
    folder: LabelFolder, config: LabelConfig, names: dict[str, list[str]]
) -> tuple[dict[str, Calibration], dict[str, Any]]:
    """Scales of every task on its calibration subset, and what is known of p's variance."""
    subset = {
        task: calibration_subset(found, config.calibration.requests)
        for task, found in names.items()
    }
    trees: dict[str, list[ScoredTree]] = defaultdict(list)
    noise: dict[str, list[float]] = defaultdict(list)
    for path in folder.parts():
        part = read_part(path)
        for tree in part.trees:
            if tree.of.request in subset[tree.of.task]:
                trees[tree.of.task].append(tree)
        for tree in part.trees[:1]:  # a part holds one task
            noise[tree.of.task] += part.noise.tolist()
    measured = {
        task: calibrate(found, noise[task], config.calibration) for task, found in trees.items()
    }
    variances = {
        task: dataclasses.asdict(estimator_variance(found)) for task, found in trees.items()
    }
    return measured, variances


def finish_targets(folder: LabelFolder, config: LabelConfig) -> dict[str, Any]:
    """Back all trees up for the configured (β, λ); returns the manifest that is written last."""
    point = config.targets
    place, scales = folder.targets(point), folder.scales()
    (place / "manifest.json").unlink(missing_ok=True)
    counts = TargetCounts()
    for path in folder.parts():
        counts += write_targets(place / path.name, read_part(path), scales, point)
    files = [place / path.name for path in folder.parts()]
    size = sum(path.stat().st_size for path in files)
    trees = int(read_json(folder.manifest_file)["bytes"])
    manifest = {
        "format": FORMAT,
        "beta": point.beta,
        "lambda": point.lambda_,
        "scales": {task: dataclasses.asdict(scale) for task, scale in scales.items()},
        "counts": dataclasses.asdict(counts),
        "stop_share": counts.stops / max(counts.fully_expanded, 1),
        "bytes": size,
        "bytes_per_state": (size + trees) / max(counts.states, 1),
        "parts": {path.name: checksum(path) for path in files},
    }
    write_json(place / "manifest.json", manifest)
    return manifest

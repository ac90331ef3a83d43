"""What a second round of labelling adds to a first one: the states that a policy comes through.

In: a finished label folder and, for its requests, profiles a warm controller went through. Out: the
roots and the likelihoods that a run into another folder starts from. Its trees contain the first
round's, since the same searches are made again without a call; only what is new is scored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from enough.errors import ConfigError
from enough.labels.folder import LabelFolder, checksum
from enough.prompts.profile_sequences import Profile
from enough.run_folders import first_difference, read_json
from enough.teacher.case import Case
from enough.teacher.scored_tree import ScoredTree


@dataclass(frozen=True, slots=True)
class Visits:
    """States to label beside those of an earlier folder.

    Attributes:
        earlier: the folder; its scores and scales are taken over.
        profiles: name of a case -> the states the policy visited, the empty one left out.
        levels: how many are searched below them; 0: to the horizon.
        actions: how many are tried at each of them; 0: all.
    """

    earlier: Path
    profiles: Mapping[str, tuple[Profile, ...]]
    levels: int = 0
    actions: int = 0

    def settings(self) -> dict[str, Any]:
        """What the new labels depend on."""
        states = repr(sorted(self.profiles.items())).encode("utf-8", "surrogatepass")
        return {
            "labels": checksum(LabelFolder(self.earlier).manifest_file),
            "states": hashlib.blake2b(states, digest_size=16).hexdigest(),
            "levels": self.levels,
            "actions": self.actions,
        }

    def require_same_teacher(self, settings: Mapping[str, Any]) -> None:
        """Refuse settings or data other than those of the earlier round."""
        folder = LabelFolder(self.earlier)
        folder.require_finished()
        before = read_json(folder.settings_file)
        for part in ("config", "data"):
            if (key := first_difference(before[part], settings[part], part)) is not None:
                raise ConfigError(
                    f"{self.earlier}: was labelled with another {key}; a second round needs the "
                    "same teacher"
                )

    def trees(self) -> dict[str, ScoredTree]:
        """The earlier trees by the name of their case."""
        parts = LabelFolder(self.earlier).read()
        return {tree.of.name: tree for part in parts for tree in part.trees}

    def calibration(self) -> dict[str, Any]:
        """The frozen scales: a unit of gain must not change between rounds."""
        found: dict[str, Any] = read_json(LabelFolder(self.earlier).manifest_file)["calibration"]
        return found

    def added_to(self, case: Case) -> Case:
        """The case with its visited states as further roots."""
        return replace(
            case,
            visited=self.profiles.get(case.name, ()),
            visited_levels=self.levels,
            visited_actions=self.actions,
        )


def prefixes(profiles: Iterable[Profile]) -> tuple[Profile, ...]:
    """Every state on the way to these profiles, each once, the empty one left out."""
    found = (profile[:n] for profile in profiles for n in range(1, len(profile) + 1))
    return tuple(dict.fromkeys(found))

"""Labels written by hand, resolved to the joints of a rig."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from akd_sdk.rig import Rig


@dataclass(frozen=True)
class Score:
    """How a rig's groups compare with its labels: counts of limb joints, and the joints of the whole body that differ."""

    limb: int
    wrong: tuple[str, ...]
    unknown: tuple[str, ...]
    elsewhere: tuple[str, ...]

    @property
    def right(self) -> int:
        return self.limb - len(self.wrong) - len(self.unknown)


def shared_labels(shared: Path) -> dict[str, Any]:
    with open(shared / "data" / "labels.json", encoding="utf-8") as file:
        rigs: dict[str, Any] = json.load(file)["rigs"]
    return rigs


def truth_of(rig: Rig, entry: dict[str, Any]) -> dict[int, str]:
    """The labelled group of each labelled joint; "none" for what is no anatomy."""
    document = rig.source.document.json
    nodes = document["skins"][entry["skin"]]["joints"]
    joint_of = {int(node): j for j, node in enumerate(rig.skeleton.nodes)}
    by_name = {document["nodes"][node].get("name"): joint_of[node] for node in nodes}
    truth: dict[int, str] = {}
    for group, names in [*entry["groups"].items(), ("none", entry["not_anatomy"])]:
        for name in names:
            truth[joint_of[nodes[name]] if isinstance(name, int) else by_name[name]] = group
    return truth


def score(rig: Rig, entry: dict[str, Any]) -> Score:
    """Compare a rig with its labels."""
    truth, found = truth_of(rig, entry), rig.skeleton.groups
    limb = [j for j, group in truth.items() if "left" in group or "right" in group]

    def said(j: int) -> str:
        return f"{rig.skeleton.names[j]}: {found[j]}, labelled {truth[j]}"

    return Score(
        limb=len(limb),
        wrong=tuple(said(j) for j in limb if found[j] not in (truth[j], "unknown")),
        unknown=tuple(said(j) for j in limb if found[j] == "unknown"),
        elsewhere=tuple(said(j) for j in truth if j not in limb and found[j] != truth[j]),
    )

"""Names of joints in a BVH: single words, all different, within a dialect's alphabet; those of humans as MotionBuilder calls them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from akd_sdk.exporters.bvh_dialects import Dialect
from akd_sdk.rig import Rig, Skeleton

LEG: Final = ("UpLeg", "Leg", "Foot", "ToeBase")
ARM: Final = ("Arm", "ForeArm", "Hand")
SIDES: Final = {1: "Left", 2: "Right"}


def bvh_name(name: str, dialect: Dialect | None = None) -> str:
    """A name that a BVH reader takes for one word: white space, control characters and braces become underlines, and what the dialect
    does not take."""
    word = re.sub(r"[\s{}\x00-\x1f\x7f-\x9f]+", "_", name)
    if dialect is not None and dialect.ascii:
        word = re.sub(r"[^A-Za-z0-9_]+", "_", word)
    return _cut(word.strip("_") or "joint", dialect)


def joint_names(rig: Rig, joints: Sequence[int], dialect: Dialect) -> list[str]:
    """Names of the joints of the file, all different."""
    human = human_names(rig.skeleton) if dialect.human_names and rig.body == "biped" else {}
    taken = {human[j] for j in joints if j in human}
    return [human[j] if j in human else _unused(bvh_name(rig.skeleton.names[j], dialect), taken, dialect) for j in joints]


def human_names(skeleton: Skeleton) -> dict[int, str]:
    """What MotionBuilder calls joints of a human, by joint; those that it has no name for are left out."""
    made = {skeleton.pelvis: "Hips"} if skeleton.pelvis >= 0 else {}
    for chain in skeleton.chains:
        if chain.kind in ("leg", "arm") and chain.side in SIDES:
            side = SIDES[chain.side]
            made |= {j: side + part for j, part in zip(chain.joints, LEG if chain.kind == "leg" else ARM, strict=False)}
            collar = int(skeleton.solve_parents[chain.joints[0]])
            if chain.kind == "arm" and collar >= 0 and skeleton.sides[collar] == chain.side:
                made[collar] = f"{side}Shoulder"
        elif chain.kind == "spine":
            made |= {j: f"Spine{i or ''}" for i, j in enumerate(chain.joints)}
        elif chain.kind == "neck":
            made |= {j: f"Neck{i or ''}" for i, j in enumerate(chain.joints[:-1])}
            made[chain.joints[-1]] = "Head"
    return made if len(set(made.values())) == len(made) else {}


def _unused(name: str, taken: set[str], dialect: Dialect) -> str:
    new, number = name, 2
    while new in taken:
        tail = f"_{number}"
        new, number = _cut(name, dialect, len(tail)) + tail, number + 1
    taken.add(new)
    return new


def _cut(name: str, dialect: Dialect | None, spare: int = 0) -> str:
    """The beginning of a name that leaves room for so many bytes behind it; what UTF-8 cannot hold is dropped."""
    longest = None if dialect is None or dialect.longest is None else dialect.longest - spare
    return name.encode("utf-8", "replace")[:longest].decode("utf-8", "ignore")

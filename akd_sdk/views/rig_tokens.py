"""Tokens of a rig: the joints and virtual tips of a character that stand for a body before a prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import RigError
from akd_sdk.rig import Chain, Rig
from akd_sdk.views.tokens import GROUPS, MAX_TOKENS, Tokens

Array = NDArray[np.float64]

MOST = {"spine": 4, "neck": 4, "tail": 5}
"""Most tokens along each part of the axis; longer chains, and all of a body with too many tokens, are thinned evenly, both ends kept."""

SHORT_BONE = 0.17
"""Hip heights: past knee and elbow, a joint of an animal's leg nearer than this to the token before it is no token."""

SOLED_JOINTS = 3
"""A human leg is hip, knee and ankle, an arm shoulder, elbow and wrist or hand; the tip stands for what follows."""


@dataclass(frozen=True)
class _Label:
    """What a token is: GROUPS name and side, 0 middle, 1 left, 2 right."""

    group: str
    side: int = 0


@dataclass(frozen=True)
class _Point:
    """What a token stands for: a joint, or a virtual tip of it, and where that is at rest, metres."""

    joint: int
    place: Array
    tip: int = -1


@dataclass
class _Draft:
    """Tokens as they are collected; positions still in the world, metres."""

    names: list[str] = field(default_factory=list)
    labels: list[_Label] = field(default_factory=list)
    points: list[_Point] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    along: list[float] = field(default_factory=list)

    def add(self, name: str, label: _Label, point: _Point, parent: int, along: float = 0.0) -> int:
        """Append a token; returns its index."""
        self.names.append(name)
        self.labels.append(label)
        self.points.append(point)
        self.parents.append(parent)
        self.along.append(along)
        return len(self.names) - 1


def tokens_of(rig: Rig) -> Tokens:
    """The tokens of a rig, in hip heights of the character frame, origin on the ground under the pelvis.

    Pelvis first, then spine, neck, head and its tip, tail, and each limb from its first joint to its tip. Helpers, fingers, ears, poles
    and sockets are no tokens: they follow rigidly.

    Raises:
        RigError: the body is unknown (with the reason), or has no legs.
    """
    skeleton = rig.skeleton
    if rig.body == "unknown" or skeleton.pelvis < 0:
        raise RigError(_why(rig), rig.source.path, "only a body with one or two pairs of legs and a clear facing can be animated")
    for crowd in range(4):
        most = {part: max(1, count - crowd) for part, count in MOST.items()}
        draft = _Draft()
        draft.add("pelvis", _Label("root"), _Point(skeleton.pelvis, skeleton.rest_world[skeleton.pelvis, :3, 3]), -1)
        feet, hips = _limbs(rig, draft, _axis(rig, draft, most))
        if len(draft.names) <= MAX_TOKENS:
            break
    if "LH" not in hips or "RH" not in hips:
        raise RigError("a leg is missing", rig.source.path, "both hind legs are needed")
    return _finish(rig, draft, feet, hips)


def _why(rig: Rig) -> str:
    reasons = [note for note in rig.notes if any(word in note for word in (" found", "could not be told"))]
    return "what kind of body this is could not be told" + (f": {'; '.join(reasons)}" if reasons else "")


def _axis(rig: Rig, draft: _Draft, most: Mapping[str, int]) -> int:
    """Add spine, neck, head and tail; returns the token of the chest, from which neck and fore limbs hang."""
    rest = rig.skeleton.rest_world[:, :3, 3]
    chest = 0
    for chain in _chains(rig, "spine"):
        joints = _thinned(chain.joints, most["spine"])
        for k, joint in enumerate(joints):
            chest = draft.add(f"spine{k + 1}", _Label("spine"), _Point(joint, rest[joint]), chest, (k + 1) / len(joints))
    for chain in _chains(rig, "neck"):
        last = chest
        neck = _thinned(chain.joints[:-1], most["neck"])
        for k, joint in enumerate(neck):
            last = draft.add(f"neck{k}", _Label("neck"), _Point(joint, rest[joint]), last, k / len(neck))
        head = draft.add("head", _Label("head"), _Point(chain.joints[-1], rest[chain.joints[-1]]), last)
        if chain.tip >= 0:
            draft.add("head tip", _Label("head"), _tip(rig, chain), head, 1.0)
    for chain in _chains(rig, "tail")[:1]:
        last = 0
        joints = _thinned(chain.joints, most["tail"])
        for k, joint in enumerate(joints):
            last = draft.add(f"tail{k}", _Label("tail"), _Point(joint, rest[joint]), last, k / max(len(joints) - 1, 1))
    return chest


def _limbs(rig: Rig, draft: _Draft, chest: int) -> tuple[dict[str, int], dict[str, int]]:
    """Add legs and arms; returns the tokens of feet and hips by limb."""
    hip_height = _hip_height(rig)
    feet: dict[str, int] = {}
    hips: dict[str, int] = {}
    for kind, end, hangs in (("foreleg", "F", chest), ("arm", "A", chest), ("wing", "A", chest), ("leg", "H", 0)):
        for chain in sorted(_chains(rig, kind), key=lambda c: c.side):
            if chain.side == 0:
                continue
            name = "LR"[chain.side - 1] + end
            points = [_Point(j, rig.skeleton.rest_world[j, :3, 3]) for j in _limb_joints(rig, chain, hip_height)]
            if chain.tip >= 0:
                points.append(_tip(rig, chain))
            tokens = _add_limb(draft, name, _Label(kind, chain.side), points, hangs)
            if end in "HF":
                feet[name], hips[name] = tokens[-1], tokens[0]
    return feet, hips


def _add_limb(draft: _Draft, name: str, label: _Label, points: Sequence[_Point], parent: int) -> list[int]:
    places = np.array([point.place for point in points])
    path = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))])
    tokens: list[int] = []
    for k, point in enumerate(points):
        along = float(path[k] / path[-1]) if path[-1] > 0.0 else 0.0
        tokens.append(draft.add(f"{name}{k}", label, point, tokens[-1] if tokens else parent, along))
    return tokens


def _limb_joints(rig: Rig, chain: Chain, hip_height: float) -> list[int]:
    """The joints of a limb that are tokens."""
    joints = list(chain.joints)
    if chain.kind in ("arm", "wing"):
        return joints if len(joints) <= SOLED_JOINTS else [joints[0], joints[1], joints[-1]] if chain.kind == "arm" else joints[:4]
    if rig.body == "biped":
        return joints[:SOLED_JOINTS]
    rest = rig.skeleton.rest_world[:, :3, 3]
    kept = joints[:2]
    for joint in joints[2:]:
        if np.linalg.norm(rest[joint] - rest[kept[-1]]) >= SHORT_BONE * hip_height:
            kept.append(joint)
    return kept


def _chains(rig: Rig, kind: str) -> list[Chain]:
    return [chain for chain in rig.skeleton.chains if chain.kind == kind]


def _tip(rig: Rig, chain: Chain) -> _Point:
    tip = rig.skeleton.tips[chain.tip]
    place = rig.skeleton.points_at_rest(np.array([tip.joint]), tip.offset[None])[0]
    return _Point(tip.joint, place, chain.tip)


def _thinned(joints: Sequence[int], most: int) -> list[int]:
    """At most `most` of the joints, evenly, with both ends."""
    if len(joints) <= most:
        return list(joints)
    if most == 1:
        return [joints[-1]]
    return [joints[round(k * (len(joints) - 1) / (most - 1))] for k in range(most)]


def _ground(rig: Rig) -> float:
    """Height of the lowest sole at rest, metres."""
    joints = np.array([point.joint for point in rig.contact_points], dtype=np.int64)
    offsets = np.array([point.offset for point in rig.contact_points]).reshape(-1, 3)
    soles = rig.skeleton.points_at_rest(joints, offsets)[:, 1]
    tips = [_tip(rig, chain).place[1] for chain in rig.skeleton.chains if chain.kind in ("leg", "foreleg") and chain.tip >= 0]
    return float(min([*soles, *tips], default=0.0))


def _hip_height(rig: Rig) -> float:
    hips = [float(rig.skeleton.rest_world[chain.joints[0], 1, 3]) for chain in _chains(rig, "leg")]
    if not hips:
        raise RigError("the character has no legs", rig.source.path, "only a body with one or two pairs of legs can be animated")
    return max(float(np.mean(hips)) - _ground(rig), 1e-9)


def _finish(rig: Rig, draft: _Draft, feet: dict[str, int], hips: dict[str, int]) -> Tokens:
    places = np.array([point.place for point in draft.points])
    origin = places[0].copy()
    origin[1] = _ground(rig)
    height = float(np.mean([places[hips[limb], 1] for limb in ("LH", "RH")])) - origin[1]
    return Tokens(
        names=tuple(draft.names),
        rest=(places - origin) @ rig.facing / height,
        parents=np.array(draft.parents, dtype=np.int64),
        groups=np.array([GROUPS.index(label.group) for label in draft.labels], dtype=np.int64),
        sides=np.array([label.side for label in draft.labels], dtype=np.int64),
        chain=np.array(draft.along),
        joints=np.array([point.joint for point in draft.points], dtype=np.int64),
        tips=np.array([point.tip for point in draft.points], dtype=np.int64),
        feet=feet,
        hips=hips,
        body=rig.body,
    )

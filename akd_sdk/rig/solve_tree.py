"""The anatomical tree: which joints are body, and what each hangs on where the file hangs it on a control or on the armature."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from akd_sdk.rig.evidence import Evidence
from akd_sdk.rig.mirror import Mirror

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

JUNCTION_REACH = 0.15
"""Body heights: a joint without skin is a place where limbs meet if the limbs below it begin about this near."""

FAR_BONE = 1.7
"""A loose joint without skin belongs to a limb's end if it is at most this many of that limb's last bones away."""

NEAR_BONE = 0.08
"""Body heights: a part's first joint lies about this near to the bone that it turns on."""

STRAY_SHARE = 0.02
"""A topmost joint that carries less than this share of the skin, far away from where it lies, is a control."""

DETACH_SHARE = 0.05
"""A joint leaves its parent in the file if they share nothing and it touches another joint with this share of its skin."""


@dataclass(frozen=True)
class BodyTree:
    """The joints that are body, as one tree.

    Attributes:
        body: (joints,) is part of the body.
        parents: (joints,) the parent in the body, -1 for its root and for joints that are no body.
        root: the body's topmost joint.
    """

    body: Flags
    parents: Ints
    root: int

    @property
    def children(self) -> list[list[int]]:
        lists: list[list[int]] = [[] for _ in self.parents]
        for joint, parent in enumerate(self.parents):
            if parent >= 0:
                lists[int(parent)].append(joint)
        return lists

    def below(self, joint: int) -> list[int]:
        """The joint and everything that hangs on it."""
        children = self.children
        found, agenda = [], [joint]
        while agenda:
            j = agenda.pop()
            found.append(j)
            agenda.extend(children[j])
        return found

    def path_up(self, joint: int) -> list[int]:
        """The joint, its parent, and so on to the root."""
        path = [joint]
        while self.parents[path[-1]] >= 0:
            path.append(int(self.parents[path[-1]]))
        return path

    def rooted_at(self, joint: int) -> BodyTree:
        """The same tree hung up on another joint."""
        parents = self.parents.copy()
        path = self.path_up(joint)
        for child, parent in pairwise(path):
            parents[parent] = child
        parents[joint] = -1
        return BodyTree(self.body, parents, joint)


def find_body_tree(evidence: Evidence, mirror: Mirror) -> BodyTree:
    """Join the parts that carry skin into one tree, along the file's tree where that is anatomy, else along the skin."""
    bare = _without_skin(evidence, mirror)
    body = _bare_body(evidence) if bare else _skinned_body(evidence, mirror)
    parents = np.where(body, evidence.parents, -1)
    parents = np.where((parents >= 0) & body[np.maximum(parents, 0)], parents, -1)
    if not bare:
        for joint in _strangers(evidence, body, parents):
            parents[joint] = -1
    return _join(evidence, mirror, body, parents, bare)


def _without_skin(evidence: Evidence, mirror: Mirror) -> bool:
    """Whether the skin says too little: no joint of the middle carries any, or hardly a joint at all."""
    middle = mirror.twin == np.arange(evidence.count)
    return not bool((evidence.skinned & middle).any()) or float(evidence.skinned.mean()) < 0.25


def _bare_body(evidence: Evidence) -> Flags:
    """Every joint but those at the top of the file's tree that lie on the ground: roots of the scene."""
    body = np.ones(evidence.count, dtype=bool)
    low, high = evidence.positions[:, 1].min(), evidence.positions[:, 1].max()
    for j, parent in enumerate(evidence.parents):
        top = parent < 0 or not body[parent]
        has_children = bool((evidence.parents == j).any())
        if top and has_children and evidence.positions[j, 1] < low + 0.05 * (high - low):
            body[j] = False
    return body


def _skinned_body(evidence: Evidence, mirror: Mirror) -> Flags:
    """Joints with skin, those between them, and bare joints at the top in which limbs meet."""
    below = evidence.skinned.copy()
    for j in range(evidence.count - 1, -1, -1):
        if below[j] and evidence.parents[j] >= 0:
            below[int(evidence.parents[j])] = True
    body = np.zeros(evidence.count, dtype=bool)
    children = evidence.children
    for j, parent in enumerate(evidence.parents):
        hangs = parent >= 0 and body[parent]
        carries = evidence.skinned[j] and (hangs or not _is_stray(evidence, j))
        body[j] = carries or (below[j] and (hangs or _is_junction(evidence, mirror, children[j], below, j)))
    return body


def _is_stray(evidence: Evidence, joint: int) -> bool:
    """Whether a joint above most of the body carries few vertices, and lies on the ground or nowhere near them."""
    if evidence.mass[joint] > STRAY_SHARE * evidence.mass.sum():
        return False
    under = _file_subtree(evidence.parents, joint)
    if 2 * int(evidence.skinned[under].sum()) < int(evidence.skinned.sum()):
        return False
    if evidence.positions[joint, 1] < 0.05:
        return True
    own = evidence.points_of([joint])
    return not len(own) or float(np.linalg.norm(own - evidence.positions[joint], axis=1).min()) > 0.1


def _is_junction(evidence: Evidence, mirror: Mirror, children: list[int], below: Flags, joint: int) -> bool:
    """Whether a pair of limbs begins right beside a bare joint that lies between them and the rest."""
    alive = [c for c in children if below[c]]
    pairs = [(c, int(mirror.twin[c])) for c in alive if mirror.twin[c] > c and mirror.twin[c] in alive]
    if not pairs or len(alive) < 3 or mirror.twin[joint] != joint:
        return False
    heights = evidence.positions[alive, 1]
    here = evidence.positions[joint]
    if here[1] < 0.05 or not heights.min() - 0.06 <= here[1] <= heights.max() + 0.06:
        return False
    gaps = [np.linalg.norm(evidence.positions[list(pair)].mean(0) - here) for pair in pairs]
    return float(min(gaps)) < JUNCTION_REACH


def _strangers(evidence: Evidence, body: Flags, parents: Ints) -> list[int]:
    """Joints that share no skin with the topmost joint above them (nor does what hangs on them) but with another joint.

    Such a topmost joint is a control that happens to carry some skin; lower down, fingers that touch are no such sign.
    """
    found = []
    for j in range(evidence.count):
        p = int(parents[j])
        if p < 0 or parents[p] >= 0 or not evidence.skinned[j] or not evidence.skinned[p]:
            continue
        under = _file_subtree(parents, j)
        if evidence.touch[np.ix_([p], under)].sum() > 0.0:
            continue
        others = np.setdiff1d(np.flatnonzero(body), [*under, p])
        if len(others) and evidence.touch[j, others].max() > DETACH_SHARE * evidence.mass[j]:
            found.append(j)
    return found


def _file_subtree(parents: Ints, joint: int) -> list[int]:
    inside = {joint}
    for k in range(joint + 1, len(parents)):
        if int(parents[k]) in inside:
            inside.add(k)
    return sorted(inside)


def _join(evidence: Evidence, mirror: Mirror, body: Flags, parents: Ints, bare: bool) -> BodyTree:
    """Hang every part on the strongest touch, strongest first, beginning with the heaviest part that reaches the middle."""
    tops = [int(j) for j in np.flatnonzero(body & (parents < 0))]
    parts = {top: _file_subtree(parents, top) for top in tops}
    middle = mirror.twin == np.arange(evidence.count)

    def importance(top: int) -> tuple[bool, float, int]:
        return bool(middle[parts[top]].any()), 0.0 if bare else float(evidence.mass[parts[top]].sum()), len(parts[top])

    main = max(tops, key=importance)
    body, parents = body.copy(), parents.copy()
    inside = list(parts.pop(main))
    reach = _Reach(evidence, mirror, sides_of(evidence, mirror), bare)
    while parts:
        top, to = reach.next_part(parts, inside)
        if to < 0:
            for part in parts.values():
                body[part] = False
            break
        part = parts.pop(top)
        if reach.sides[top] == 0:
            _hang_up(parents, top, reach.joint_towards(part, to))
        joined = next(j for j in part if parents[j] < 0)
        parents[joined] = to
        inside += part
    _even_out(evidence, mirror, tops, parents)
    return BodyTree(body, parents, main)


def sides_of(evidence: Evidence, mirror: Mirror) -> Ints:
    """(joints,) +1 or -1 for the side along the mirror's normal, 0 in the middle; what hangs on a side in the file belongs to it."""
    sides = np.zeros(evidence.count, dtype=np.int64)
    across = mirror.across(evidence.positions)
    deepest = np.abs(across).copy()
    extreme = across.copy()
    for j in range(evidence.count - 1, -1, -1):
        p = int(evidence.parents[j])
        if p >= 0 and deepest[j] > deepest[p]:
            deepest[p], extreme[p] = deepest[j], extreme[j]
    for j, parent in enumerate(evidence.parents):
        if parent >= 0 and sides[parent] != 0:
            sides[j] = sides[parent]
        elif mirror.twin[j] != j:
            sides[j] = 1 if extreme[j] > 0.0 else -1
    return sides


@dataclass(frozen=True)
class _Reach:
    """Which joint of the body a loose part belongs to."""

    evidence: Evidence
    mirror: Mirror
    sides: Ints
    bare: bool

    def next_part(self, parts: dict[int, list[int]], inside: list[int]) -> tuple[int, int]:
        """The part that touches most (the middle's first) and the joint it hangs on; by nearness where none touches; (-1, -1) if none."""
        best = (False, 0.0, -1, -1)
        for top, part in parts.items():
            allowed = self._allowed(top, inside)
            shared = self.evidence.touch[np.ix_(allowed, part)].sum(1)
            if not len(shared) or shared.max() <= 0.0:
                continue
            near = np.exp(-((self._to_bones(top, allowed) / NEAR_BONE) ** 2))
            rank = (bool(self.sides[top] == 0), float(shared.max()))
            if rank > best[:2]:
                best = (*rank, top, allowed[int((shared * (near + 0.02)).argmax())])
        if best[2] >= 0:
            return best[2], best[3]
        gaps = []
        for top, part in parts.items():
            gap, to = _gap(self.evidence, part, self._allowed(top, inside), self.bare)
            gaps.append((gap, to, top))
        near_enough = [g for g in gaps if not self.bare or g[0] <= FAR_BONE * _last_bone(self.evidence, g[1])]
        return (min(near_enough)[2], min(near_enough)[1]) if near_enough else (-1, -1)

    def joint_towards(self, part: list[int], to: int) -> int:
        """The joint of the middle of a part that touches `to` most; the part's first joint where none does."""
        middle = [j for j in part if self.sides[j] == 0]
        touch = self.evidence.touch[to, middle]
        return middle[int(touch.argmax())] if touch.max() > 0.0 else part[0]

    def _allowed(self, top: int, inside: list[int]) -> list[int]:
        """The body's joints that a part may hang on: the middle, and for a part of one side that side."""
        side = int(self.sides[top])
        allowed = [j for j in inside if self.sides[j] == 0 or (side != 0 and self.sides[j] == side)]
        return allowed or inside

    def _to_bones(self, top: int, joints: list[int]) -> Array:
        """Distance of the part's first joint from the bones of each joint (to its children in the file), body heights."""
        point = self.evidence.positions[top]
        found = np.empty(len(joints))
        for k, j in enumerate(joints):
            start = self.evidence.positions[j]
            ends = self.evidence.positions[self.evidence.parents == j]
            found[k] = min([float(np.linalg.norm(point - start)), *(_to_segment(point, start, end) for end in ends)])
        return found


def _hang_up(parents: Ints, top: int, joint: int) -> None:
    """Hang a part of the tree up on another of its joints."""
    path = [joint]
    while path[-1] != top:
        path.append(int(parents[path[-1]]))
    for child, parent in pairwise(path):
        parents[parent] = child
    parents[joint] = -1


def _to_segment(point: Array, start: Array, end: Array) -> float:
    along = end - start
    share = np.clip((point - start) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
    return float(np.linalg.norm(point - start - share * along))


def _gap(evidence: Evidence, part: list[int], inside: list[int], bare: bool) -> tuple[float, int]:
    """Distance between a part and the body, and the body's nearest joint: between skins, or joints where there is none."""
    here, there = evidence.points_of(part), evidence.points_of(inside)
    if bare or not len(here) or not len(there):
        apart = np.linalg.norm(evidence.positions[part[0]] - evidence.positions[inside], axis=1)
        k = int(apart.argmin())
        return float(apart[k]), inside[k]
    owners = evidence.owners[evidence.vertices_of(inside)]
    distances, index = cKDTree(there).query(here)
    k = int(distances.argmin())
    return float(distances[k]), int(owners[index[k]])


def _last_bone(evidence: Evidence, joint: int) -> float:
    parent = int(evidence.parents[joint])
    return float(np.linalg.norm(evidence.positions[joint] - evidence.positions[parent])) if parent >= 0 else np.inf


def _even_out(evidence: Evidence, mirror: Mirror, tops: list[int], parents: Ints) -> None:
    """Twins hang on twins: where the skin says otherwise on one side, the better supported side decides."""
    for top in tops:
        other = int(mirror.twin[top])
        if other <= top or other not in tops or parents[top] < 0 or parents[other] < 0:
            continue
        if mirror.twin[parents[top]] == parents[other]:
            continue
        kept = top if evidence.touch[top, parents[top]] >= evidence.touch[other, parents[other]] else other
        parents[int(mirror.twin[kept])] = int(mirror.twin[parents[kept]])

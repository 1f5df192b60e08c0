"""Evidence: what a bare skeleton and its skins show about a body, measured once, in the pose that shows it best."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from akd_sdk.rig.rig import Skin
from akd_sdk.rig.skeleton import Skeleton
from akd_sdk.rotations import nearest_rotation

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

POSED_RAD = np.radians(2.0)
"""Joints turned by more than this between rest and bind pose make the bind pose the one to look at."""

TOUCH_RADIUS = 0.012
"""Vertices of two joints nearer than this, in body heights, touch even where no weights are shared (rigid parts, seams)."""

MOST_TOUCHING = 60_000
"""Vertices among which touching ones are looked for; of finer meshes, a share spread evenly."""

SKINNED_SHARE = 1e-5
"""A joint that carries less than this share of all weights counts as not skinned (stray weights of exporters)."""


@dataclass(frozen=True)
class Evidence:
    """Measured facts, lengths in body heights, Y up, ground of the lowest point at 0.

    Attributes:
        parents: (joints,) the file's tree.
        positions: (joints, 3) joint positions in the pose looked at.
        into: (joints, 4, 4) maps points of that pose, body heights, to each joint's rest axes, the skeleton's unit.
        turns: (joints, 3, 3) rotation from the pose looked at to the rest pose, of each joint.
        points: (n, 3) skin vertices in that pose.
        owners: (n,) the joint with the largest weight of each vertex.
        mass: (joints,) sum of weights.
        skinned: (joints,) carries skin.
        touch: (joints, joints) shared weights and touching vertices, symmetric, zero on the diagonal.
        height: of the body, the skeleton's unit.
        posed: whether the bind pose was looked at, not the rest pose.
        covered: whether the skin covers the body, not only a part of it such as the hands.
    """

    parents: Ints
    positions: Array
    into: Array
    turns: Array
    points: Array
    owners: Ints
    mass: Array
    skinned: Flags
    touch: Array
    height: float
    posed: bool
    covered: bool

    @property
    def count(self) -> int:
        return len(self.parents)

    @property
    def children(self) -> list[list[int]]:
        """The file tree's children of each joint."""
        lists: list[list[int]] = [[] for _ in range(self.count)]
        for joint, parent in enumerate(self.parents):
            if parent >= 0:
                lists[int(parent)].append(joint)
        return lists

    def offset(self, joint: int, point: Array) -> Array:
        """A point (3,) of the pose looked at as an offset in a joint's rest axes, the skeleton's unit."""
        return np.asarray(self.into[joint, :3, :3] @ point + self.into[joint, :3, 3])

    def points_of(self, joints: list[int]) -> Array:
        """(n, 3) vertices owned by the joints."""
        return self.points[self.vertices_of(joints)]

    def vertices_of(self, joints: list[int]) -> Ints:
        """Indices of the vertices owned by the joints."""
        order, starts = self._by_owner
        parts = [order[starts[j] : starts[j + 1]] for j in joints]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)

    @cached_property
    def _by_owner(self) -> tuple[Ints, Ints]:
        """Vertices sorted by owner, and where each joint's begin."""
        order = np.argsort(self.owners, kind="stable")
        return order, np.searchsorted(self.owners[order], np.arange(self.count + 1))


def gather(skeleton: Skeleton, skins: tuple[Skin, ...]) -> Evidence:
    """Look at a bare skeleton and its skins."""
    world, posed = _pose(skeleton, skins)
    rest = skeleton.rest_world
    count = skeleton.count
    mass = np.zeros(count)
    points, owners = [np.zeros((0, 3))], [np.zeros(0, dtype=np.int64)]
    shared = np.zeros((count, count))
    for skin in skins:
        np.add.at(mass, skin.joints.ravel(), skin.weights.ravel())
        owner = skin.joints[np.arange(len(skin.joints)), skin.weights.argmax(1)]
        points.append(skin.at_rest(world))
        owners.append(owner)
        shared += _shared_weights(skin, count)
    cloud, owner_all = np.concatenate(points), np.concatenate(owners)
    positions = world[:, :3, 3]
    low, height = _extent(cloud, positions)
    origin = np.array([0.0, low, 0.0])
    cloud = (cloud - origin) / height
    enlarge = np.diag([height, height, height, 1.0])
    enlarge[1, 3] = low
    touch = shared + _touching(cloud, owner_all, count)
    return Evidence(
        parents=skeleton.parents,
        positions=(positions - origin) / height,
        into=np.asarray(np.linalg.inv(_with_scales_of(rest, world)) @ enlarge, dtype=np.float64),
        turns=nearest_rotation(rest[:, :3, :3] @ np.linalg.inv(world[:, :3, :3])),
        points=cloud,
        owners=owner_all,
        mass=mass,
        skinned=mass > max(SKINNED_SHARE * float(mass.sum()), 1e-9),
        touch=touch,
        height=height,
        posed=posed,
        covered=_covers(cloud, (positions - origin) / height),
    )


def _extent(cloud: Array, positions: Array) -> tuple[float, float]:
    """Lowest height and vertical extent: of the skin, with the joints where skin covers only a part of the body.

    A flat body takes its widest extent, so that lengths stay finite.
    """
    points = cloud if _covers(cloud, positions) else np.concatenate([cloud, positions])
    low, high = points.min(0), points.max(0)
    height = float(high[1] - low[1])
    widest = float((high - low).max())
    return float(low[1]), height if height > 1e-3 * widest else max(widest, 1e-9)


def standing_pose(skeleton: Skeleton, skins: tuple[Skin, ...]) -> Array:
    """World transforms (joints, 4, 4) of the pose that shows a body best, as it was bound, with the scales of the rest pose; of most
    characters the rest pose itself."""
    world, posed = _pose(skeleton, skins)
    return _with_scales_of(skeleton.rest_world, world) if posed else skeleton.rest_world


def _with_scales_of(rest: Array, world: Array) -> Array:
    """Joint transforms of the pose looked at with the scales that the rest pose has, so that offsets are in rest axes."""
    scales = np.linalg.norm(rest[:, :3, :3], axis=1) / np.linalg.norm(world[:, :3, :3], axis=1)
    scaled = world.copy()
    scaled[:, :3, :3] *= scales[:, None, :]
    return scaled


def _covers(cloud: Array, positions: Array) -> bool:
    """Whether the skin is about as high as the skeleton."""
    return len(cloud) > 0 and float(np.ptp(cloud[:, 1])) > 0.6 * float(np.ptp(positions[:, 1]))


def _pose(skeleton: Skeleton, skins: tuple[Skin, ...]) -> tuple[Array, bool]:
    """World transforms of the pose to look at: the bind pose where joints were turned after binding, else the rest pose.

    Artists bind in a symmetric pose; the rest pose of the nodes is whatever frame was exported. The bind space may have
    another axis up: it is turned so that most joints agree with the rest pose, then set upright on its nearest axis.
    """
    rest = skeleton.rest_world
    inverse = np.zeros_like(rest)
    weight = np.zeros(skeleton.count)
    space = np.full(skeleton.count, -1)
    for k, skin in enumerate(skins):
        found = (np.abs(skin.inverse_binds).sum((1, 2)) > 0.0) & (space < 0)
        inverse[found] = skin.inverse_binds[found]
        space[found] = k
        np.add.at(weight, skin.joints.ravel(), skin.weights.ravel())
    bound = np.flatnonzero(space >= 0)
    if len(bound) < 2:
        return rest, False
    moved = rest @ inverse
    votes = weight / max(float(weight.sum()), 1e-9) + 1.0 / len(bound)
    heaviest = max(set(space[bound].tolist()), key=lambda k: float(votes[space == k].sum()))
    main = np.flatnonzero(space == heaviest)
    middle, apart = _middle_of(moved, main, votes)
    if apart < POSED_RAD or not _covers(np.concatenate([s.at_rest(rest) for s in skins]), rest[main, :3, 3]):
        return rest, False
    placed = np.eye(4)
    placed[:3, :3] = _upright(moved, main, middle, [s for s in skins if (space[s.joints] == heaviest).all()])
    placed[:3, :3] *= float(np.median(np.cbrt(np.abs(np.linalg.det(moved[main, :3, :3])))))
    from_rest = placed @ np.linalg.inv(moved[middle])
    frames = {int(heaviest): placed}
    for k in sorted(set(space[bound].tolist()) - {heaviest}):
        frames[k] = from_rest @ moved[_middle_of(moved, np.flatnonzero(space == k), votes)[0]]
    world = rest.copy()
    for j, parent in enumerate(skeleton.parents):
        if space[j] >= 0:
            world[j] = frames[int(space[j])] @ np.linalg.inv(inverse[j])
            world[j, :3, :3] = nearest_rotation(world[j, :3, :3])
        elif parent >= 0:
            world[j] = world[parent] @ skeleton.rest.matrices[j]
    return world, True


def _middle_of(moved: Array, joints: Ints, votes: Array) -> tuple[int, float]:
    """Of the maps from the bind space to the rest pose, the joint whose turn is nearest to all, and the largest angle from it."""
    turns = nearest_rotation(moved[joints, :3, :3])
    agree = np.einsum("aij,bij->ab", turns, turns)
    apart = np.arccos(np.clip((agree - 1.0) / 2.0, -1.0, 1.0))
    k = int(np.argmin(apart @ votes[joints]))
    return int(joints[k]), float(apart[k].max())


def _upright(moved: Array, main: Ints, middle: int, skins: list[Skin]) -> Array:
    """The turn of the bind space that stands the body up: of the likely ups, the one on which most of the skin is on the ground.

    Likely are the axis nearest to the middle joint's up, that up itself, and the topmost joint's.
    """
    turn = nearest_rotation(moved[middle, :3, :3])
    axis = np.where(np.abs(turn[1]) == np.abs(turn[1]).max(), np.sign(turn[1]), 0.0)
    ups = [axis, turn[1], nearest_rotation(moved[main[0], :3, :3])[1]]
    cloud = np.concatenate([s.vertices for s in skins]) if skins else np.zeros((0, 3))

    def grounded(up: Array) -> int:
        heights = cloud @ up
        return int((heights < heights.min() + 0.05 * np.ptp(heights)).sum()) if len(heights) else 0

    found = [grounded(up) for up in ups]
    best = 0 if found[0] >= 0.7 * max(found) else int(np.argmax(found))
    source, target = turn @ ups[best], np.array([0.0, 1.0, 0.0])
    cross, cosine = np.cross(source, target), float(source @ target)
    if cosine < -0.999:
        return np.asarray(np.diag([1.0, -1.0, -1.0]) @ turn)
    k = np.array([[0.0, -cross[2], cross[1]], [cross[2], 0.0, -cross[0]], [-cross[1], cross[0], 0.0]])
    return np.asarray((np.eye(3) + k + k @ k / (1.0 + cosine)) @ turn)


def _shared_weights(skin: Skin, count: int) -> Array:
    """(joints, joints) sum over vertices of the smaller of two joints' weights."""
    shared = np.zeros((count, count))
    columns = skin.joints.shape[1]
    for a in range(columns):
        for b in range(a + 1, columns):
            least = np.minimum(skin.weights[:, a], skin.weights[:, b])
            np.add.at(shared, (skin.joints[:, a], skin.joints[:, b]), least)
            np.add.at(shared, (skin.joints[:, b], skin.joints[:, a]), least)
    np.fill_diagonal(shared, 0.0)
    return shared


def _touching(points: Array, owners: Ints, count: int) -> Array:
    """(joints, joints) a tenth of the number of vertex pairs of two joints within the touch radius, capped by the vertices."""
    touch = np.zeros((count, count))
    if not len(points):
        return touch
    thin = slice(None, None, 1 + len(points) // MOST_TOUCHING)
    points, owners = points[thin], owners[thin]
    near = cKDTree(points)
    distances, neighbours = near.query(points, k=min(8, len(points)), distance_upper_bound=TOUCH_RADIUS)
    valid = np.isfinite(distances.reshape(len(points), -1)) & (neighbours.reshape(len(points), -1) < len(points))
    rows, columns = np.nonzero(valid)
    a, b = owners[rows], owners[neighbours.reshape(len(points), -1)[rows, columns]]
    np.add.at(touch, (a, b), 0.05)
    np.add.at(touch, (b, a), 0.05)
    np.fill_diagonal(touch, 0.0)
    return touch

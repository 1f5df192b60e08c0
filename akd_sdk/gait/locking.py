"""Foot locking: planted points stand still on the ground, nothing goes under it, and the rest of the pose follows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from akd_sdk.gait.contacts import find_contacts, ground_height
from akd_sdk.gait.feet import Foot, contact_paths, feet_of, leg_length, sole_edge
from akd_sdk.gait.ground import ground_matrices, move_world
from akd_sdk.gait.lifting import lift_edges
from akd_sdk.gait.placement import Floor, FootMotion, place_foot
from akd_sdk.gait.smoothing import blend_through, runs, smooth_above, smooth_fit
from akd_sdk.gait.stance import is_made, unique_frames
from akd_sdk.gait.travel import Travel, estimate_travel, in_place_world
from akd_sdk.kinematics import motion_from_world, point_paths
from akd_sdk.kinematics.limb_ik import LimbBends, bending_axes, reach, solve_limb
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig, Skeleton
from akd_sdk.rotations import nearest_rotation

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

BLEND_S = 0.07
"""Time in which a correction fades on both sides of a stance."""
REACH = 0.995
"""Share of a leg's longest reach that a foot may ask for before the body is lowered."""
LOWERING = 3.0
"""How many times longer than a foot's correction the body's lowering takes."""
LOWEST = 0.12
"""Most that the body is lowered, leg lengths."""
MISSED = 1e-3
"""Distance from its place, leg lengths, from which on a standing foot does not stand."""
ROUNDS = 4
ON_GROUND = 0.01
"""Height, leg lengths, up to which a point of a standing foot counts as planted afterwards."""


@dataclass(frozen=True)
class _Leg:
    """A foot over time: its path as found and as placed (both with the body's shift), in which frames it stands, and by how much its leg
    misses its place (frames,), metres."""

    foot: Foot
    was: FootMotion
    placed: FootMotion
    stands: Bools
    missing: Array

    @property
    def end(self) -> Array:
        """Where the limb's end is to be, (frames, 3): the foot's joint, the sole of a peg."""
        return self.placed.sole if self.foot.is_peg else self.placed.position


def lock_feet(rig: Rig, motion: Motion, planted: Bools | None = None, *, clearance: float = 0.0) -> Motion:
    """The motion with planted contact points held still on the ground by their limbs, and no contact point under it.

    planted: (frames, contact points), by default `find_contacts`. clearance: leg lengths that a swinging foot is raised over the ground
    at least, in the middle of its swing; feet that only just clear it would drag under gravity. Each stance keeps one spot and heading,
    rolling from heel to toe; corrections fade in swing; the body takes what the standing feet have in common and is lowered smoothly
    where a leg would not reach. Knees keep their side, bones their length, loops stay exact. The result's `contacts` are the points that
    stand on the ground. A motion that does not travel is held on the belt that its feet push back (`estimate_travel`).
    """
    travel = estimate_travel(rig, motion)
    planted = find_contacts(rig, motion, travel) if planted is None else planted
    count = unique_frames(motion)
    world = in_place_world(rig, motion, travel)[:count]
    height = ground_height(rig, motion, contact_paths(rig, world))
    floor = Floor(
        path=travel.path[:count],
        lap=travel.path[-1] if motion.loop else None,
        fps=motion.fps,
        facing=rig.facing,
        height=height,
        leg=leg_length(rig),
        lifts=is_made(motion),
        clearance=clearance * leg_length(rig),
    )
    feet = tuple(replace(foot, edge=sole_edge(rig, foot)) for foot in feet_of(rig) if len(foot.chain) > 1)
    if not feet:
        return motion.with_(contacts=planted)
    held = planted[:count].copy()
    world = _straight_toes(rig, world, feet, held)
    for _ in range(ROUNDS):
        posed, legs = _pose(rig, world, feet, held, floor)
        if any(foot.is_peg for foot in feet):  # a peg's sole turns with its leg: once more from where it came to stand
            posed, legs = _pose(rig, posed, feet, held, floor)
        missed = [leg.stands & (leg.missing > MISSED * leg_length(rig)) for leg in legs]
        if not np.any(missed):
            break
        for leg, misses in zip(legs, missed, strict=True):
            held[:, list(leg.foot.points)] &= ~misses[:, None]
    contacts = _standing(rig, posed, legs, floor)
    return _finish(rig, motion, posed, travel, contacts)


def _straight_toes(rig: Rig, world: Array, feet: tuple[Foot, ...], planted: Bools) -> Array:
    """World transforms in which toes only bend up and down against their foot: what twists a toe pushes its edge under the ground.

    Toes of feet that stand through the whole clip do not bend at all: they have no step to roll over.
    """
    skeleton, facing = rig.skeleton, rig.facing
    rest = nearest_rotation(skeleton.rest_world[:, :3, :3])
    straight = world.copy()
    for foot in feet:
        end, stays = foot.chain[-1], bool(planted[:, foot.points].all())
        turn = nearest_rotation(world[:, end, :3, :3]) @ rest[end].T
        for toe in np.flatnonzero(skeleton.solve_parents == end):
            now = nearest_rotation(world[:, toe, :3, :3])
            inner = Rotation.from_matrix(facing.T @ np.swapaxes(turn, -1, -2) @ now @ rest[toe].T @ facing)
            bend = np.zeros((len(world), 3))
            if not stays:
                bend[:, 0] = inner.as_euler("YXZ")[:, 1]
            wanted = turn @ facing @ Rotation.from_euler("XYZ", bend).as_matrix() @ facing.T @ rest[toe]
            change = np.tile(np.eye(4), (len(world), 1, 1))
            change[:, :3, :3] = wanted @ np.swapaxes(now, -1, -2)
            place = world[:, toe, :3, 3]
            change[:, :3, 3] = place - (change[:, :3, :3] @ place[..., None])[..., 0]
            subtree = np.flatnonzero(_followers(skeleton, (int(toe),)) >= 0)
            straight[:, subtree] = change[:, None] @ world[:, subtree]
    return straight


def _pose(rig: Rig, world: Array, feet: tuple[Foot, ...], planted: Bools, floor: Floor) -> tuple[Array, list[_Leg]]:
    """World transforms (frames, joints, 4, 4) with every foot put in its place, and the legs with what they miss."""
    blend, loop = BLEND_S * floor.fps, floor.lap is not None
    world, legs = _shift_body(rig, world, [_stand(rig, world, foot, planted, floor) for foot in feet], blend, loop)
    legs = [_swing(leg, floor) for leg in legs]
    world = _lower_body(rig, world, legs, LOWERING * blend, loop)
    reached = []
    for leg in legs:
        world, missing = _reach_foot(rig, world, leg)
        reached.append(replace(leg, missing=missing))
    return world, reached


def _foot_motion(rig: Rig, world: Array, foot: Foot) -> FootMotion:
    joint = foot.chain[-1]
    turn = nearest_rotation(world[:, joint, :3, :3]) @ nearest_rotation(rig.skeleton.rest_world[joint, :3, :3]).T
    position = world[:, joint, :3, 3].copy()
    arms = contact_paths(rig, world)[:, foot.points] - position[:, None]
    edge = None
    if foot.edge is not None and len(foot.edge.joints):
        out = point_paths(world, foot.edge.joints, foot.edge.offsets) - position[:, None]
        edge = np.einsum("fji,fkj->fki", turn, out)
    return FootMotion(position, turn, np.einsum("fji,fkj->fki", turn, arms), foot.is_peg, edge)


def _stand(rig: Rig, world: Array, foot: Foot, planted: Bools, floor: Floor) -> _Leg:
    was = _foot_motion(rig, world, foot)
    mine = planted[:, foot.points]
    return _Leg(foot, was, place_foot(was, mine, floor), np.asarray(mine.any(axis=1)), np.zeros(len(world)))


def _shift_body(rig: Rig, world: Array, legs: list[_Leg], blend: float, loop: bool) -> tuple[Array, list[_Leg]]:
    """The body moved by what the standing feet's corrections have in common, smoothed; legs with their path moved along."""
    stands = np.stack([leg.stands for leg in legs], axis=1).astype(np.float64)
    corrections = np.stack([leg.placed.position - leg.was.position for leg in legs], axis=1)
    weight = stands.sum(axis=1)
    common = np.einsum("fl,fli->fi", stands, corrections) / np.maximum(weight, 1.0)[:, None]
    shift = smooth_fit(common, weight, blend, loop)
    moved = []
    for leg in legs:
        was = replace(leg.was, position=leg.was.position + shift)
        placed = np.where(leg.stands[:, None], leg.placed.position, was.position)
        moved.append(replace(leg, was=was, placed=replace(leg.placed, position=placed)))
    matrices = np.tile(np.eye(4), (len(world), 1, 1))
    matrices[:, :3, 3] = shift
    return move_world(rig.skeleton, world, matrices), moved


def _swing(leg: _Leg, floor: Floor) -> _Leg:
    """The leg with its stances' corrections faded into the swings, and the swings kept above the ground."""
    blend, loop = BLEND_S * floor.fps, floor.lap is not None
    placed, held = lift_edges(leg.was, leg.placed, leg.stands, floor) if floor.lifts else (leg.placed, leg.stands)
    change = placed.turn @ np.swapaxes(leg.was.turn, -1, -2)
    turned = Rotation.from_matrix(change).as_rotvec()
    moved = placed.position - leg.was.position
    faded = blend_through(np.concatenate([moved, turned], axis=1), held, blend, loop)
    turn = Rotation.from_rotvec(faded[:, 3:]).as_matrix() @ leg.was.turn
    lowest_arm = np.einsum("fj,fkj->fk", turn[:, 1], leg.was.lowest).min(axis=1)
    needed = floor.height + floor.clearance * _arch(~leg.stands, loop) - lowest_arm - leg.was.position[:, 1]
    faded[:, 1] += smooth_above(needed - faded[:, 1], np.zeros(len(needed)), held, 0.5 * blend, loop)
    return replace(leg, placed=replace(leg.was, position=leg.was.position + faded[:, :3], turn=np.asarray(turn)))


def _arch(swings: Bools, loop: bool) -> Array:
    """(frames,) from 0 at the ends of every swing to 1 in its middle; feet that never stand, and swings that a clip cuts, have none."""
    height = np.zeros(len(swings))
    for swing in runs(swings, loop):
        cut = not loop and (swing[0] == 0 or swing[-1] == len(swings) - 1)
        if len(swing) < len(swings) and not cut:
            height[swing] = np.sin(np.pi * (np.arange(len(swing)) + 1.0) / (len(swing) + 1.0)) ** 2
    return height


def _chain(rig: Rig, world: Array, foot: Foot) -> tuple[Array, LimbBends]:
    """Points (frames, bones + 1, 3) of a foot's chain and how it bends; a peg's ends in its sole."""
    joints = np.array(foot.chain, dtype=np.int64)
    points = world[:, joints][..., :3, 3]
    if foot.is_peg:
        points = np.concatenate([points, _foot_motion(rig, world, foot).sole[:, None]], axis=1)
    carriers = joints[: points.shape[1] - 1]
    turns = nearest_rotation(world[:, carriers][..., :3, :3])
    rest = nearest_rotation(rig.skeleton.rest_world[carriers][:, :3, :3])
    left = rig.facing[:, 0] if foot.kind == "leg" else -rig.facing[:, 0]
    axes, folds = bending_axes(points, turns, np.einsum("bji,j->bi", rest, left))
    return points, LimbBends(axes, folds)


def _lower_body(rig: Rig, world: Array, legs: list[_Leg], blend: float, loop: bool) -> Array:
    """The body lowered smoothly, where a standing leg would not reach its foot's place."""
    needed = np.zeros(len(world))
    for leg in legs:
        points, bends = _chain(rig, world, leg.foot)
        longest = REACH * reach(points, bends)
        away = points[:, 0] - leg.end
        level = np.hypot(away[:, 0], away[:, 2])
        allowed = np.sqrt(np.maximum(longest**2 - level**2, 0.0))
        needed = np.where(leg.stands, np.maximum(needed, away[:, 1] - allowed), needed)
    needed = np.minimum(needed, LOWEST * leg_length(rig))
    if needed.max() <= 0.0:
        return world
    lowered = smooth_above(needed, np.zeros(len(world)), np.zeros(len(world), dtype=np.bool_), blend, loop)
    matrices = np.tile(np.eye(4), (len(world), 1, 1))
    matrices[:, 1, 3] = -lowered
    return move_world(rig.skeleton, world, matrices)


def _reach_foot(rig: Rig, world: Array, leg: _Leg) -> tuple[Array, Array]:
    """World transforms with one leg's foot put where it is placed, all that hangs on the leg following; and what it misses (frames,)."""
    skeleton, chain = rig.skeleton, leg.foot.chain
    points, bends = _chain(rig, world, leg.foot)
    solution = solve_limb(points, leg.end, bends)
    foot_turn = leg.placed.turn @ np.swapaxes(leg.was.turn, -1, -2)
    turns = np.concatenate([solution.turns, foot_turn[:, None]], axis=1)[:, : len(chain)]
    points, moved_points = points[:, : len(chain)], solution.points[:, : len(chain)]
    matrices = np.zeros((*turns.shape[:2], 4, 4))
    matrices[..., :3, :3] = turns
    matrices[..., :3, 3] = moved_points - np.einsum("fkij,fkj->fki", turns, points)
    matrices[..., 3, 3] = 1.0
    moved = world.copy()
    for j, place in enumerate(_followers(skeleton, chain)):
        if place >= 0:
            moved[:, j] = matrices[:, place] @ world[:, j]
    return moved, np.linalg.norm(solution.points[:, -1] - leg.end, axis=-1)


def _followers(skeleton: Skeleton, chain: tuple[int, ...]) -> Ints:
    """The place in the chain (joints,) that each joint follows: its nearest solve ancestor there, or itself; -1 for none."""
    places = np.full(skeleton.count, -1, dtype=np.int64)
    for j in skeleton.solve_order:
        parent = int(skeleton.solve_parents[j])
        places[j] = chain.index(j) if j in chain else (places[parent] if parent >= 0 else -1)
    return places


def _standing(rig: Rig, world: Array, legs: list[_Leg], floor: Floor) -> Bools:
    """The points (frames, points) of feet that stand where they should, as far as they are on the ground."""
    low = contact_paths(rig, world)[..., 1] - floor.height < ON_GROUND * floor.leg
    contacts = np.zeros_like(low)
    for leg in legs:
        stands = leg.stands & (leg.missing <= MISSED * floor.leg)
        contacts[:, leg.foot.points] = stands[:, None] & low[:, leg.foot.points]
    return contacts


def _finish(rig: Rig, motion: Motion, world: Array, travel: Travel, contacts: Bools) -> Motion:
    """The motion of the locked pose: a loop closed by its first pose, the travel put back where it was in the root."""
    if len(world) < motion.frames:
        world, contacts = np.concatenate([world, world[:1]]), np.concatenate([contacts, contacts[:1]])
    if travel.in_root:
        world = move_world(rig.skeleton, world, ground_matrices(travel.path))
    locked = motion_from_world(rig.skeleton, world, motion.fps, name=motion.name, loop=motion.loop, like=motion)
    return locked.with_(contacts=contacts)

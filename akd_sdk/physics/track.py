"""Tracking: a motion is followed by its own body under gravity, with the least help that keeps it up."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from akd_sdk.bodies import Articulation, articulate
from akd_sdk.bodies.coordinates import ROOT, Coordinates
from akd_sdk.errors import PhysicsError
from akd_sdk.gait import find_contacts, measure, travel_of_root, with_travel
from akd_sdk.gait.contacts import LOW_LEGS, ground_height
from akd_sdk.gait.feet import contact_paths, leg_length
from akd_sdk.gait.ground import move_world
from akd_sdk.kinematics import motion_from_world, world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.physics import engine
from akd_sdk.physics.course import Course, body_turns, course_of
from akd_sdk.physics.feasible import feasible
from akd_sdk.physics.flights import RETIMED, ballistic
from akd_sdk.physics.loads import Loads, carried, loads_of, torques
from akd_sdk.physics.loops import closed
from akd_sdk.physics.options import TrackOptions
from akd_sdk.physics.plant import Plant, build
from akd_sdk.physics.rebuild import motion_of
from akd_sdk.physics.recording import record_of
from akd_sdk.physics.reference import Reference, lay_out
from akd_sdk.physics.sampling import sampled_best
from akd_sdk.physics.search import Attempt, least_help, unaided
from akd_sdk.physics.simulate import Simulation
from akd_sdk.physics.soundness import check_sound
from akd_sdk.physics.tracked import Tracked
from akd_sdk.physics.warp_steps import check_device
from akd_sdk.progress import Progress, ProgressCallback, between, ignore
from akd_sdk.rig import Rig

Array = NDArray[np.float64]

DT_S = 1.0 / 480.0
HELD_BACK = 0.8
"""Share of the friction that is planned with: what asks for all of it slips."""
PASSES, MISSING, WORSE = 4, 0.01, 1.1
"""How often the course is made feasible at most, legs that are put back move the balance; the mean wrench that the ground cannot give, body
weights and body weights times pelvis height, below which it is; and how much more than the least so far ends it."""


@dataclass(frozen=True)
class Prepared:
    """A motion made ready to be followed: its body, the plant, and the simulation along the feasible course."""

    articulation: Articulation
    plant: Plant
    simulation: Simulation
    motion: Motion
    notes: tuple[str, ...] = ()

    @property
    def reference(self) -> Reference:
        return self.simulation.reference


def track(rig: Rig, motion: Motion, options: TrackOptions | None = None, *, progress: ProgressCallback = ignore) -> Tracked:
    """A motion followed by the character's own body under gravity, with friction and contact.

    The motion goes over the ground with its feet locked (`akd_sdk.gait`); one that walks in place is given its travel. Its root's
    path is made feasible, then joint drives (proportional-derivative, with the torques that inverse dynamics expects) follow it in MuJoCo,
    and help on the root is searched upwards from none.

    Args:
        rig: the character.
        motion: one of its motions.
        options: effort, friction, help.
        progress: told how far the search is; may raise to stop it.

    Raises:
        PhysicsError: it does not stay up within the bound, or the simulation explodes. RigError: no body can be made of the character.
        BackendError: a package is missing, or kernels cannot be compiled.
    """
    options = options or TrackOptions()
    start = time.process_time()
    engine.newton()
    if options.device != "cpu":
        with engine.quietly():
            check_device(options.device)
    stage = "compiling the simulation's kernels, once, for up to a minute" if engine.compiles() else "tracking"
    progress(Progress(stage, 0.0, "building the body"))
    given = motion if motion.travel is not None else with_travel(rig, motion)
    height = ground_height(rig, given, contact_paths(rig, world_from_motion(rig.skeleton, given))) if rig.contact_points else 0.0
    given = _lifted(rig, given, -height)
    ready = prepare(rig, given, options)
    best, alone, told = _searched(ready.simulation, options, progress, motion.name)
    made = _motion_of(rig, ready, best, given)
    record = record_of(rig, ready, best, given)
    before, after = measure(rig, given), measure(rig, made, reference=given)
    caps = tuple(float(np.sqrt(3.0)) * cap for cap in best.run.caps)
    peak = [float(np.linalg.norm(used, axis=1).max(initial=0.0)) for used in (record.force, record.torque)]
    progress(Progress("tracking", 1.0))
    reference = ready.reference
    rounded = {"caps": [round(cap, 4) for cap in caps], "mean_help": [round(mean, 4) for mean in best.mean]}
    physics = {"tracked": True, "effort": options.effort, **rounded}
    return Tracked(
        motion=_lifted(rig, made, height).with_(provenance={**made.provenance, "physics": physics}),
        record=record,
        effort=options.effort,
        caps=(caps[0], caps[1]),
        mean_force=best.mean[0],
        peak_force=peak[0],
        mean_torque=best.mean[1],
        peak_torque=peak[1],
        alone_s=None if alone.fall is None else max(alone.fall - reference.lead, 0) * reference.dt,
        before=before,
        after=after,
        bodies=len(ready.articulation.bodies),
        mass=ready.articulation.mass,
        dt=reference.dt,
        cycles=reference.cycles,
        closure_deg=0.0 if best.cycle is None else best.cycle.pose_deg,
        closure_speed=0.0 if best.cycle is None else best.cycle.speed,
        seconds=time.process_time() - start,
        notes=(*ready.articulation.notes, *ready.notes, *told, *_shortfall(best)),
    )


def _shortfall(best: Attempt) -> tuple[str, ...]:
    """A note where the best is not as it should be, none where it is."""
    return (f"it stays up, but {', and '.join(best.faults)}",) if best.faults else ()


def _searched(
    simulation: Simulation, options: TrackOptions, progress: ProgressCallback, name: str
) -> tuple[Attempt, Attempt, tuple[str, ...]]:
    """The best attempt at an effort, the longest one without help or sampling, and what the user should know."""
    if options.effort == "default":
        return *least_help(simulation, options.help, between(progress, 0.1, 0.95), name), ()
    known: Attempt | PhysicsError
    try:
        known, alone = least_help(simulation, options.help, between(progress, 0.1, 0.2), name)
    except PhysicsError as none:
        known, alone = none, unaided(simulation)
    best, notes = sampled_best(simulation, known, (options.seed, options.budget_s, options.help), between(progress, 0.2, 0.95))
    return best, alone, notes


def prepare(rig: Rig, motion: Motion, options: TrackOptions) -> Prepared:
    """Body, plant and simulation of a motion that goes over the ground."""
    if not rig.contact_points or rig.leg_length <= 0.0:
        raise PhysicsError("the character has no feet to stand on", rig.name, "track characters with legs")
    if motion.frames < 2:
        raise PhysicsError("a pose of one frame cannot be followed", motion.name, "give a motion of two frames or more")
    articulation = _grounded(articulate(rig))
    check_sound(articulation)
    coordinates = Coordinates.about(articulation, rig.facing, body_turns(rig, articulation, motion))
    planted = find_contacts(rig, motion) if motion.contacts is None else motion.contacts
    motion = motion.with_(contacts=planted)
    course = course_of(rig, coordinates, motion, DT_S)
    timed = ballistic(coordinates, motion, course)
    notes: tuple[str, ...] = ()
    if timed is not motion:
        motion, notes = timed, (RETIMED,)
        course = course_of(rig, coordinates, motion, DT_S)
    plant = build(coordinates, course.dt, options.friction, course.values)
    able, course, loads = _carriable(rig, plant, motion, course, HELD_BACK * options.friction)
    plant.set_limits(course.values)
    reference = lay_out(coordinates, course)
    return Prepared(articulation, plant, Simulation(plant, reference, _efforts(loads, reference), options.device), able, notes)


def _grounded(articulation: Articulation) -> Articulation:
    """The bodies with their soles at rest at a height of 0, where a simulation's ground is: a file's may be anywhere."""
    up = np.array([0.0, -articulation.ground_at_rest, 0.0])
    bodies = tuple(replace(body, origin=body.origin + up) for body in articulation.bodies)
    return replace(articulation, bodies=bodies, ground_at_rest=0.0)


def _carriable(rig: Rig, plant: Plant, motion: Motion, course: Course, friction: float) -> tuple[Motion, Course, Loads]:
    """The motion made feasible until the ground can give nearly all that it asks for, or less of it than before; its course and loads."""
    coordinates = plant.coordinates
    loads = loads_of(plant, course, rig.leg_length, friction)
    best, least = (motion, course, loads), np.inf
    for _ in range(PASSES):
        motion = feasible(rig, coordinates, motion, course, loads)
        course = course_of(rig, coordinates, motion, DT_S)
        loads = loads_of(plant, course, rig.leg_length, friction)
        missing = float(np.linalg.norm(carried(loads, loads.needed[:, :ROOT])[1], axis=1).mean())
        if missing < least:
            best, least = (motion, course, loads), missing
        if least < MISSING or missing > WORSE * least:
            break
    return best


def _efforts(loads: Loads, reference: Reference) -> Array:
    """(steps + 1, coordinates) the torques of a course's samples at every step of the reference."""
    made, course = torques(loads), reference.course
    at = loads.steps
    if course.loop:
        at, made = np.append(at, course.steps), np.concatenate([made, made[:1]])
    phase = reference.phase
    return np.stack([np.interp(phase, at, made[:, k]) for k in range(made.shape[1])], axis=1)


def _motion_of(rig: Rig, ready: Prepared, best: Attempt, given: Motion) -> Motion:
    """The simulated states as a motion, frame by frame as the one given; a loop's recorded cycle, closed."""
    reference = ready.reference
    values = best.run.values if best.cycle is None else closed(reference, best.run, best.cycle)
    at = np.arange(given.frames) / given.fps / reference.dt
    steps = np.arange(len(values))
    frames = np.stack([np.interp(at, steps, values[:, k]) for k in range(values.shape[1])], axis=1)
    made = motion_of(rig, reference.coordinates, frames, ready.motion)
    made = made.with_(travel=None, contacts=None, name=given.name, provenance=given.provenance)
    made = with_travel(rig, made, travel_of_root(rig, made))
    return made.with_(contacts=_touching(rig, made))


def _lifted(rig: Rig, motion: Motion, height: float) -> Motion:
    """The motion moved up by a height, metres: a file's ground is where its feet stand, a simulation's at 0."""
    if height == 0.0:
        return motion
    up = np.eye(4)
    up[1, 3] = height
    world = move_world(rig.skeleton, world_from_motion(rig.skeleton, motion), np.broadcast_to(up, (motion.frames, 4, 4)))
    return motion_from_world(rig.skeleton, world, motion.fps, name=motion.name, loop=motion.loop, like=motion)


def _touching(rig: Rig, motion: Motion) -> NDArray[np.bool_]:
    """Planted points (frames, points): of feet in stance, as far as they are down: a simulated foot comes down when it does."""
    heights = contact_paths(rig, world_from_motion(rig.skeleton, motion))[..., 1]
    return np.asarray(find_contacts(rig, motion) & (heights < LOW_LEGS * leg_length(rig)))

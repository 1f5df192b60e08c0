"""Plant: the articulation on the ground as a MuJoCo model, built by newton."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from akd_sdk.bodies import Shape
from akd_sdk.bodies.coordinates import ROOT, Coordinates, hinge_frames
from akd_sdk.bodies.hinge_limits import hinge_limits
from akd_sdk.errors import PhysicsError
from akd_sdk.physics import engine

Array = NDArray[np.float64]

ROOT_HZ, ROOT_TURN_HZ = 1.0, 4.0
"""Frequency of the bounded springs that help the root, on the body's mass and about its moment; critically damped."""
CONTACT_S = 0.005
"""Time constant of the ground, seconds: stiff; never under two time steps."""
HOLD = 4.0
"""How much stiffer friction is than the ground: soles that stand creep, the less the more (MuJoCo's impratio)."""
LEAST_FRICTION = 0.01
"""As slippery as none."""
SMALLEST_INERTIA = 1e-30
"""kg m² under which newton corrects: of characters as small as a finger, inertias are."""
Z_TO_Y = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
"""Turns z, along which newton's capsules lie, to y."""


@dataclass(frozen=True)
class Plant:
    """A model that can be stepped.

    Attributes:
        coordinates: of its articulation; MuJoCo's qpos are these.
        model: mujoco.MjModel; its first six joints are the root's.
        newton_model: what it was built from.
        dt: seconds a step.
        stiffness, damping: (coordinates,) of all drives, the root's first.
        weight: newton; height: metres from the soles to the pelvis at rest: what help is measured by.
    """

    coordinates: Coordinates
    model: Any
    newton_model: Any
    dt: float
    stiffness: Array
    damping: Array
    weight: float
    height: float

    def allow(self, force: float, torque: float) -> None:
        """Bound the help on the root: per axis, in body weights and body weights times pelvis height."""
        caps = np.repeat([force * self.weight, torque * self.weight * self.height], 3)
        self.model.actuator_forcelimited[:ROOT] = 1
        self.model.actuator_forcerange[:ROOT] = np.stack([-caps, caps], axis=1)

    def set_stiffness(self, factor: float) -> None:
        """Make the hinges' drives so many times as stiff as the articulation's, and their damping by its root: oscillations die as fast."""
        hinges = self.coordinates.articulation
        self.stiffness[ROOT:] = factor * hinges.stiffness[1:].reshape(-1)
        self.damping[ROOT:] = np.sqrt(factor) * hinges.damping[1:].reshape(-1)
        gain, bias = self.model.actuator_gainprm, self.model.actuator_biasprm
        gain[ROOT::2, 0], bias[ROOT::2, 1] = self.stiffness[ROOT:], -self.stiffness[ROOT:]
        gain[ROOT + 1 :: 2, 0], bias[ROOT + 1 :: 2, 2] = self.damping[ROOT:], -self.damping[ROOT:]

    def set_limits(self, reference: Array) -> None:
        """Let the hinges' limits give way where `reference` (frames, coordinates) leaves them."""
        self.model.jnt_range[ROOT:] = hinge_limits(self.coordinates, reference)[1:].reshape(-1, 2)

    def controls(self, wanted: Array, rates: Array) -> Array:
        """Actuator inputs (steps, inputs) for coordinates and their rates (steps, coordinates).

        The root has position drives, whose targets are moved on by the rates; every hinge has a position and a velocity drive.
        """
        lead = wanted[:, :ROOT] + self.damping[:ROOT] / self.stiffness[:ROOT] * rates[:, :ROOT]
        hinges = np.stack([wanted[:, ROOT:], rates[:, ROOT:]], axis=-1).reshape(len(wanted), -1)
        return np.concatenate([lead, hinges], axis=1)

    def help_used(self, controls: Array, values: Array, rates: Array, caps: Array) -> tuple[Array, Array]:
        """Help on the root for actuator inputs and the states in which they act: force (steps, 3) over body weight and torque
        (steps, 3) over body weight times height, along the root's axes; caps (steps, 2) per axis, as in `allow`."""
        root = slice(0, ROOT)
        wished = self.stiffness[root] * (controls[:, root] - values[:, root]) - self.damping[root] * rates[:, root]
        scale = np.repeat([self.weight, self.weight * self.height], 3)
        bounded = np.clip(wished / scale, -np.repeat(caps, 3, axis=1), np.repeat(caps, 3, axis=1))
        return bounded[:, :3], bounded[:, 3:]


def build(coordinates: Coordinates, dt: float, friction: float, reference: Array) -> Plant:
    """The plant of an articulation that is to follow `reference` (frames, coordinates); `friction` with the ground."""
    friction = max(friction, LEAST_FRICTION)
    articulation = coordinates.articulation
    mass, height = articulation.mass, articulation.root_height
    about = mass * (0.5 * height) ** 2
    rates = 2.0 * np.pi * np.repeat([ROOT_HZ, ROOT_TURN_HZ], 3)
    on = np.repeat([mass, about], 3)
    stiffness = np.concatenate([on * rates**2, articulation.stiffness[1:].reshape(-1)])
    damping = np.concatenate([2.0 * on * rates, articulation.damping[1:].reshape(-1)])
    newton = engine.newton()
    with engine.compiling(), engine.quietly():
        model = _newton_model(coordinates, stiffness, damping, friction, reference)
        try:
            how = {"integrator": "implicitfast", "cone": "elliptic", "impratio": HOLD}
            solver = newton.solvers.SolverMuJoCo(model, use_mujoco_cpu=True, **how)
        except ValueError as fault:  # MuJoCo's, of masses and inertias that are nothing to it
            told = " ".join(str(fault).split()).removeprefix("Error: ")
            hint = "give it another --height"
            raise PhysicsError(f"a body {articulation.height:g} m high cannot be simulated: {told}", hint=hint) from fault
    inner = solver.mj_model
    inner.opt.timestep = dt
    inner.opt.disableflags |= int(engine.mujoco().mjtDisableBit.mjDSBL_AUTORESET)  # an explosion is to be seen
    inner.geom_solref[:] = max(CONTACT_S, 2.0 * dt), 1.0
    inner.geom_friction[:, 0] = friction
    return Plant(coordinates, inner, model, dt, stiffness, damping, articulation.weight, height)


def _newton_model(coordinates: Coordinates, stiffness: Array, damping: Array, friction: float, reference: Array) -> Any:
    newton = engine.newton()
    import warp as wp

    def transform(position: Array, turn: Array) -> Any:
        return wp.transform(wp.vec3(*map(float, position)), wp.quat(*map(float, Rotation.from_matrix(turn).as_quat())))

    articulation = coordinates.articulation
    builder = newton.ModelBuilder(up_axis=newton.Axis.Y, gravity=(0.0, -9.81, 0.0))
    builder.inertia_absolute_tolerance, builder.inertia_correction = SMALLEST_INERTIA, 0.0
    surface = newton.ModelBuilder.ShapeConfig(density=0.0, mu=friction)
    frames, limits = hinge_frames(articulation), hinge_limits(coordinates, reference)
    axes = {"x": wp.vec3(1.0, 0.0, 0.0), "y": wp.vec3(0.0, 1.0, 0.0), "z": wp.vec3(0.0, 0.0, 1.0)}

    def drive(name: str, at: int, armature: float = 0.0, span: tuple[float, float] | None = None) -> Any:
        mode = newton.JointTargetMode.POSITION if at < ROOT else newton.JointTargetMode.POSITION_VELOCITY
        bounded = {} if span is None else {"limit_lower": span[0], "limit_upper": span[1]}
        gains = {"target_ke": float(stiffness[at]), "target_kd": float(damping[at])}
        return newton.ModelBuilder.JointDofConfig(axis=axes[name], armature=armature, actuator_mode=mode, **gains, **bounded)

    joints, shapes = [], []
    for i, body in enumerate(articulation.bodies):
        inertia = wp.mat33(*map(float, body.inertia.reshape(-1)))
        placed = {"xform": transform(body.origin, np.eye(3)), "com": wp.vec3(*map(float, body.centre)), "inertia": inertia}
        link = builder.add_link(mass=float(body.mass), label=body.name, lock_inertia=True, **placed)
        shapes.append(_add_shape(builder, link, body.shape, transform, surface))
        if i == 0:
            linear = [drive(name, k) for k, name in enumerate("xyz")]
            angular = [drive(name, 3 + k) for k, name in enumerate("yxz")]
            place = transform(body.origin, coordinates.facing), transform(np.zeros(3), coordinates.facing)
        else:
            at = coordinates.slot(i).start
            spans = [(float(low), float(high)) for low, high in limits[i]]
            armature = articulation.armature[i]
            linear, angular = [], [drive(name, at + k, float(armature[k]), spans[k]) for k, name in enumerate("xzy")]
            offset = body.origin - articulation.bodies[body.parent].origin
            place = transform(offset, frames[i] @ coordinates.neutral[i]), transform(np.zeros(3), frames[i])
        joints.append(
            builder.add_joint_d6(
                parent=body.parent, child=link, linear_axes=linear, angular_axes=angular, parent_xform=place[0], child_xform=place[1],
                label=body.name,
            )
        )  # fmt: skip
    builder.add_articulation(joints, label=articulation.name)
    for k, shape in enumerate(shapes):
        for other in shapes[:k]:
            builder.add_shape_collision_filter_pair(shape, other)
    builder.add_ground_plane(cfg=surface)
    return builder.finalize(device="cpu")


def _add_shape(builder: Any, link: int, shape: Shape, transform: Any, surface: Any) -> int:
    if shape.kind == "box":
        x, y, z = map(float, shape.half)
        return int(builder.add_shape_box(link, xform=transform(shape.centre, shape.axes), hx=x, hy=y, hz=z, cfg=surface))
    radius, length = float(shape.half[0]), float(shape.half[1])
    place = transform(shape.centre, shape.axes @ Z_TO_Y)
    return int(builder.add_shape_capsule(link, xform=place, radius=radius, half_height=length, cfg=surface))

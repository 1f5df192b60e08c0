"""Play a trajectory written for Isaac Lab on the articulation that lies beside it. NEVER RUN IN ISAAC: only a stand-in has run it.

    ./isaaclab.sh -p play.py walk.usda walk.npz                      # kinematic: states are written, nothing is simulated
    ./isaaclab.sh -p play.py walk.usda walk.npz --mode targets       # the joints' drives follow, the root is held or helped

What is arithmetic here (sampling, orders of joints, orders of quaternions, help on the root) is run by the project's tests with newton in
Isaac's place. What calls Isaac Lab, in `IsaacRobot` and below, was written from the source of Isaac Lab 3.0 and from what is remembered
of 2.x, and was never executed.

Targets alone are no controller: a character whose root is free falls. So the root is held (`--root held`: its pose is written each step,
whatever the joints do), or helped (`--root helped`: a spring of `--force` body weights and `--torque` body weights times pelvis height at
most, per axis; a push from outside, which no balance earns), or left alone (`--root free`: it falls).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

GRAVITY = 9.81
HELP_HZ, HELP_TURN_HZ = 2.0, 4.0
"""Of the springs that help the root: on the body's mass, and on its moment, mass times (height / 2)²; critically damped."""


@dataclass(frozen=True)
class Motion:
    """A trajectory file: Isaac Lab's arrays, quaternions w first, Z up, metres, radians, and what the file says beside them."""

    fps: float
    dof_names: list[str]
    body_names: list[str]
    angles: np.ndarray
    rates: np.ndarray
    positions: np.ndarray
    quats_wxyz: np.ndarray
    velocities: np.ndarray
    spins: np.ndarray
    loop: bool
    mass_kg: float
    root_height_m: float

    @property
    def duration(self) -> float:
        return (len(self.angles) - 1) / self.fps


@dataclass(frozen=True)
class State:
    """Root: position (3,), quat_wxyz (4,), velocity (3,) of its origin, spin (3,), world axes. Hinges: angles and rates (hinges,)."""

    position: np.ndarray
    quat_wxyz: np.ndarray
    velocity: np.ndarray
    spin: np.ndarray
    angles: np.ndarray
    rates: np.ndarray


class Robot(Protocol):
    """What plays: Isaac Lab's articulation, or a stand-in. Its hinges have its own order."""

    joint_names: list[str]

    def write_root(self, state: State) -> None: ...
    def write_joints(self, angles: np.ndarray, rates: np.ndarray) -> None: ...
    def set_targets(self, angles: np.ndarray, rates: np.ndarray) -> None: ...
    def push_root(self, force: np.ndarray, torque: np.ndarray) -> None: ...
    def root(self) -> State: ...
    def show(self) -> None: ...
    def step(self) -> None: ...


def load(path: str) -> Motion:
    """Read a trajectory. ValueError: its quaternions are not said to have w first."""
    with np.load(path) as data:
        order = str(data["quaternion_order"]) if "quaternion_order" in data.files else "unknown"
        if order != "wxyz":
            raise ValueError(f"{path}: the order of its quaternions is {order}, not wxyz")
        values = {name: data[name] for name in data.files}
    doubles = {
        name: values[key].astype(np.float64)
        for name, key in {
            "angles": "dof_positions",
            "rates": "dof_velocities",
            "positions": "body_positions",
            "quats_wxyz": "body_rotations",
            "velocities": "body_linear_velocities",
            "spins": "body_angular_velocities",
        }.items()
    }
    return Motion(
        fps=float(values["fps"]),
        dof_names=values["dof_names"].tolist(),
        body_names=values["body_names"].tolist(),
        loop=bool(values["loop"]),
        mass_kg=float(values["mass_kg"]),
        root_height_m=float(values["root_height_m"]),
        **doubles,
    )


def columns(names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where each wanted name is among names: simulators order hinges as they like. ValueError: names that differ."""
    places = {name: i for i, name in enumerate(names)}
    missing = [name for name in wanted if name not in places]
    if missing or len(names) != len(wanted):
        odd = missing or [name for name in names if name not in set(wanted)]
        raise ValueError(f"the trajectory is of another articulation: {', '.join(odd[:4])} in one of them alone")
    return [places[name] for name in wanted]


def quaternion_order(version: str) -> str:
    """Of Isaac Lab's own arrays: w last from 3.0 on, w first before."""
    return "xyzw" if int(version.split(".")[0]) >= 3 else "wxyz"


def reordered(quat: np.ndarray, order: str, wanted: str) -> np.ndarray:
    """Quaternions (..., 4) from one order to another, "wxyz" or "xyzw"."""
    for known in (order, wanted):
        if known not in ("wxyz", "xyzw"):
            raise ValueError(f"unknown order of quaternions {known!r}")
    if order == wanted:
        return quat
    return np.roll(quat, -1 if order == "wxyz" else 1, axis=-1)


def state_at(motion: Motion, time: float) -> State:
    """The state at a time in seconds, between frames; a loop goes on, moved as its root is in a lap, and what ends stays at its end."""
    lap = int(np.floor(time / motion.duration + 1e-9)) if motion.loop and motion.duration > 0.0 else 0
    inside = float(np.clip(time - lap * motion.duration, 0.0, motion.duration))
    frame = min(int(inside * motion.fps + 1e-9), max(len(motion.angles) - 2, 0))
    following, share = min(frame + 1, len(motion.angles) - 1), inside * motion.fps - frame

    def mixed(values: np.ndarray) -> np.ndarray:
        return (1.0 - share) * values[frame] + share * values[following]

    position, quat = mixed(motion.positions[:, 0]), slerp(motion.quats_wxyz[frame, 0], motion.quats_wxyz[following, 0], share)
    velocity, spin = mixed(motion.velocities[:, 0]), mixed(motion.spins[:, 0])
    first, last = (motion.positions[0, 0], motion.quats_wxyz[0, 0]), (motion.positions[-1, 0], motion.quats_wxyz[-1, 0])
    onward = multiply(last[1], conjugate(first[1]))
    for _ in range(lap):
        position = rotate(onward, position - first[0]) + last[0]
        quat = multiply(onward, quat)
        velocity, spin = rotate(onward, velocity), rotate(onward, spin)
    if not motion.loop and time > motion.duration:
        velocity, spin = np.zeros(3), np.zeros(3)
    angles = mixed(motion.angles) + lap * (motion.angles[-1] - motion.angles[0])
    return State(position, quat, velocity, spin, angles, mixed(motion.rates))


def root_help(motion: Motion, wanted: State, found: State, force: float, torque: float) -> tuple[np.ndarray, np.ndarray]:
    """Force (3,) in newton and torque (3,) in N m, world axes, that pull the root to where it should be.

    force, torque: the most of it per axis, in body weights and body weights times pelvis height.
    """
    weight = motion.mass_kg * GRAVITY
    moment = motion.mass_kg * (0.5 * motion.root_height_m) ** 2
    pull, turn = 2.0 * np.pi * HELP_HZ, 2.0 * np.pi * HELP_TURN_HZ
    away = rotation_vector(multiply(wanted.quat_wxyz, conjugate(found.quat_wxyz)))
    push = motion.mass_kg * (pull**2 * (wanted.position - found.position) + 2.0 * pull * (wanted.velocity - found.velocity))
    twist = moment * (turn**2 * away + 2.0 * turn * (wanted.spin - found.spin))
    most = force * weight, torque * weight * motion.root_height_m
    return np.clip(push, -most[0], most[0]), np.clip(twist, -most[1], most[1])


def play_kinematic(robot: Robot, motion: Motion, dt: float, steps: int) -> None:
    """Write every step's state of the root and the hinges, and show it; nothing is simulated."""
    order = columns(motion.dof_names, robot.joint_names)
    for step in range(steps):
        state = state_at(motion, step * dt)
        robot.write_root(state)
        robot.write_joints(state.angles[order], state.rates[order])
        robot.show()


def play_targets(robot: Robot, motion: Motion, dt: float, steps: int, root: str, caps: tuple[float, float]) -> None:
    """Begin in the first state, then let the drives follow the hinges' angles and rates; the root is "held", "helped" or "free"."""
    order = columns(motion.dof_names, robot.joint_names)
    begin = state_at(motion, 0.0)
    robot.write_root(begin)
    robot.write_joints(begin.angles[order], begin.rates[order])
    for step in range(steps):
        now, after = state_at(motion, step * dt), state_at(motion, (step + 1) * dt)
        if root == "held":
            robot.write_root(now)
        elif root == "helped":
            robot.push_root(*root_help(motion, now, robot.root(), *caps))
        robot.set_targets(after.angles[order], after.rates[order])
        robot.step()


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Product of quaternions (4,), w first."""
    return np.concatenate([[a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def conjugate(quat: np.ndarray) -> np.ndarray:
    return quat * np.array([1.0, -1.0, -1.0, -1.0])


def rotate(quat: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """A vector (3,) turned by a unit quaternion (4,), w first."""
    across = 2.0 * np.cross(quat[1:], vector)
    return vector + quat[0] * across + np.cross(quat[1:], across)


def rotation_vector(quat: np.ndarray) -> np.ndarray:
    """Axis times angle (3,) of a unit quaternion (4,), w first, the short way."""
    quat = quat if quat[0] >= 0.0 else -quat
    size = float(np.linalg.norm(quat[1:]))
    return (2.0 * np.arctan2(size, quat[0]) / size if size > 1e-12 else 2.0) * quat[1:]


def slerp(a: np.ndarray, b: np.ndarray, share: float) -> np.ndarray:
    """Between two unit quaternions (4,), w first, the short way."""
    turn = share * rotation_vector(multiply(b, conjugate(a)))
    angle = float(np.linalg.norm(turn))
    half = np.concatenate([[np.cos(0.5 * angle)], (np.sin(0.5 * angle) / angle if angle > 1e-12 else 0.5) * turn])
    return multiply(half, a)


class IsaacRobot:
    """Isaac Lab's articulation as what plays here, of 3.0 or 2.x. Its calls were tried with a stand-in alone, never in Isaac.

    articulation: isaaclab.assets.Articulation with one character; sim: isaaclab.sim.SimulationContext; dt: seconds a step;
    order: of Isaac Lab's own quaternions, "xyzw" or "wxyz"; root_name: the body that help acts on.
    """

    def __init__(self, articulation: Any, sim: Any, dt: float, order: str, root_name: str) -> None:
        self.articulation, self.sim, self.dt, self.order = articulation, sim, dt, order
        self.root_body = list(articulation.body_names).index(root_name)
        self.joint_names = list(articulation.joint_names)

    def write_root(self, state: State) -> None:
        pose = np.concatenate([state.position, reordered(state.quat_wxyz, "wxyz", self.order)])
        self._call("write_root_link_pose_to_sim", root_pose=pose)
        self._call("write_root_link_velocity_to_sim", root_velocity=np.concatenate([state.velocity, state.spin]))

    def write_joints(self, angles: np.ndarray, rates: np.ndarray) -> None:
        self._call("write_joint_position_to_sim", position=angles)
        self._call("write_joint_velocity_to_sim", velocity=rates)

    def set_targets(self, angles: np.ndarray, rates: np.ndarray) -> None:
        self._call("set_joint_position_target", target=angles)
        self._call("set_joint_velocity_target", target=rates)

    def push_root(self, force: np.ndarray, torque: np.ndarray) -> None:
        wrench = {"forces": self._tensor(force)[:, None], "torques": self._tensor(torque)[:, None]}
        composer = getattr(self.articulation, "permanent_wrench_composer", None)
        push = self.articulation.set_external_force_and_torque if composer is None else composer.set_forces_and_torques_index
        push(**wrench, body_ids=[self.root_body], is_global=True)

    def root(self) -> State:
        quat = reordered(self._read("root_link_quat_w"), self.order, "wxyz")
        velocity = self._read("root_link_lin_vel_w"), self._read("root_link_ang_vel_w")
        return State(self._read("root_link_pos_w"), quat, *velocity, self._read("joint_pos"), self._read("joint_vel"))

    def show(self) -> None:
        self.sim.forward()
        self.sim.render()

    def step(self) -> None:
        self.articulation.write_data_to_sim()
        self.sim.step()
        self.articulation.update(self.dt)

    def _tensor(self, values: np.ndarray) -> Any:
        import torch

        return torch.tensor(np.atleast_2d(values), dtype=torch.float32, device=self.articulation.device)

    def _call(self, name: str, **values: np.ndarray) -> None:
        """A method of 3.0, whose arguments are named, or its ancestor of 2.x, whose are not."""
        newer = getattr(self.articulation, f"{name}_index", None)
        tensors = {key: self._tensor(value) for key, value in values.items()}
        if newer is not None:
            newer(**tensors)
        else:
            getattr(self.articulation, name)(*tensors.values())

    def _read(self, name: str) -> np.ndarray:
        values = getattr(self.articulation.data, name)
        values = getattr(values, "torch", values)  # 3.0 hands out arrays that are both Warp's and torch's
        return values[0].cpu().numpy().astype(np.float64)


def main() -> None:
    """Start Isaac Sim, spawn the articulation, play. Never executed."""
    from isaaclab.app import AppLauncher

    parser = argparse.ArgumentParser(description="Play a trajectory on an articulation in Isaac Lab.")
    parser.add_argument("articulation", help="the .usda or .usdc")
    parser.add_argument("trajectory", help="the .npz beside it")
    parser.add_argument("--mode", choices=("kinematic", "targets"), default="kinematic")
    parser.add_argument("--root", choices=("held", "helped", "free"), default="held", help="in the mode targets")
    parser.add_argument("--force", type=float, default=0.29, help="most help, body weights per axis")
    parser.add_argument("--torque", type=float, default=0.17, help="most help, body weights times pelvis height per axis")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--dt", type=float, default=1.0 / 240.0)
    parser.add_argument("--quaternions", choices=("auto", "xyzw", "wxyz"), default="auto", help="Isaac Lab's own order")
    AppLauncher.add_app_launcher_args(parser)
    args = parser.parse_args()
    app = AppLauncher(args).app

    import isaaclab
    import isaaclab.sim as sim_utils
    from isaaclab.actuators import ImplicitActuatorCfg
    from isaaclab.assets import Articulation, ArticulationCfg

    motion = load(args.trajectory)
    order = quaternion_order(isaaclab.__version__) if args.quaternions == "auto" else args.quaternions
    sim = sim_utils.SimulationContext(sim_utils.SimulationCfg(dt=args.dt))
    ground, light = sim_utils.GroundPlaneCfg(), sim_utils.DomeLightCfg(intensity=2000.0)
    ground.func("/World/Ground", ground)
    light.func("/World/Light", light)
    drives = {"all": ImplicitActuatorCfg(joint_names_expr=[".*"], stiffness=None, damping=None)}  # those of the file
    spawn = sim_utils.UsdFileCfg(usd_path=args.articulation)
    robot = Articulation(ArticulationCfg(prim_path="/World/Character", spawn=spawn, actuators=drives))
    sim.reset()
    player = IsaacRobot(robot, sim, args.dt, order, motion.body_names[0])
    steps = round(args.seconds / args.dt)
    if args.mode == "kinematic":
        play_kinematic(player, motion, args.dt, steps)
    else:
        play_targets(player, motion, args.dt, steps, args.root, (args.force, args.torque))
    app.close()


if __name__ == "__main__":
    main()

"""The player for Isaac Lab, with newton in Isaac's place: what it writes, what it drives, and how it calls either generation of the API."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
from export_cases import SAMPLES
from physics_readback import Loaded, body_states, load_in_newton
from scipy.spatial.transform import Rotation
from steps import stepping

from akd_sdk.exporters import Clip, export_isaac
from akd_sdk.exporters.articulated import FORWARD_X
from akd_sdk.physics import engine
from akd_sdk.readers import open_rig
from samples.isaac import play

SMALL_MM = 0.1
TRACKED_DEG = 4.0
DT = 1.0 / 240.0

pytestmark = pytest.mark.xdist_group("isaac")


class Newton:
    """An articulation in newton, stepped by MuJoCo's C library, with its hinges in an order that is not the trajectory's."""

    def __init__(self, path: Path, dt: float = DT) -> None:
        self.loaded: Loaded = load_in_newton(path)
        with engine.quietly():
            how: dict[str, Any] = {"use_mujoco_cpu": True, "integrator": "implicitfast"}
            self.solver = engine.newton().solvers.SolverMuJoCo(self.loaded.model, **how)
        self.model, self.data = self.solver.mj_model, self.solver.mj_data
        self.model.opt.timestep = dt
        hinges = [name for name in self.loaded.joints if not name.startswith("joint_")]
        self.joint_names = hinges[::-1]
        self.slots = np.array([self.loaded.coordinate(name) for name in self.joint_names])
        self.pushed: list[np.ndarray] = []
        self.shown: list[np.ndarray] = []
        self.angles: list[np.ndarray] = []

    def write_root(self, state: play.State) -> None:
        self.data.qpos[:7] = np.concatenate([state.position, state.quat_wxyz])
        turn = Rotation.from_quat(np.roll(state.quat_wxyz, -1))
        self.data.qvel[:6] = np.concatenate([state.velocity, turn.inv().apply(state.spin)])  # MuJoCo's spin is in the body's axes

    def write_joints(self, angles: np.ndarray, rates: np.ndarray) -> None:
        self.data.qpos[self.slots] = angles
        self.data.qvel[self.slots - 1] = rates

    def set_targets(self, angles: np.ndarray, rates: np.ndarray) -> None:
        self.data.ctrl[2 * (self.slots - 7)] = angles
        self.data.ctrl[2 * (self.slots - 7) + 1] = rates

    def push_root(self, force: np.ndarray, torque: np.ndarray) -> None:
        self.pushed.append(np.concatenate([force, torque]))
        self.data.xfrc_applied[1] = self.pushed[-1]

    def root(self) -> play.State:
        turn = Rotation.from_quat(np.roll(self.data.qpos[3:7], -1))
        spin = turn.apply(self.data.qvel[3:6])
        angles, rates = self.data.qpos[self.slots], self.data.qvel[self.slots - 1]
        return play.State(self.data.qpos[:3].copy(), self.data.qpos[3:7].copy(), self.data.qvel[:3].copy(), spin, angles, rates)

    def show(self) -> None:
        newton_order = self.data.qpos.copy()
        newton_order[3:7] = np.roll(newton_order[3:7], -1)
        self.shown.append(body_states(self.loaded, newton_order))

    def step(self) -> None:
        mujoco.mj_step(self.model, self.data)
        self.angles.append(self.data.qpos[self.slots].copy())


@pytest.fixture(scope="module", params=["biped", "quadruped"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Clip, Path, np.ndarray, list[int]]:
    """A clip that travels and turns, the articulation, and the clip's joints that move bodies with their names."""
    rig = open_rig(SAMPLES / f"{request.param}.glb")
    clip = Clip.from_motion(rig, stepping(rig, turn_rad_s=0.5))
    path = export_isaac(rig, clip, tmp_path_factory.mktemp("play") / "steps.usda")
    names = play.load(str(path.with_suffix(".npz"))).body_names
    return clip, path, FORWARD_X @ rig.facing.T, [clip.skeleton.names.index(name) for name in names]


def test_kinematic_playback_puts_bodies_where_the_clip_has_them(made: tuple[Clip, Path, np.ndarray, list[int]]) -> None:
    clip, path, axes, joints = made
    motion, robot = play.load(str(path.with_suffix(".npz"))), Newton(path)
    steps = 40
    play.play_kinematic(robot, motion, dt=3.0 / motion.fps, steps=steps)
    wanted = clip.world(np.arange(steps) * 3.0 / motion.fps)[:, joints][..., :3, 3] @ axes.T
    places = [robot.loaded.bodies[name] for name in motion.body_names]
    found = np.stack(robot.shown)[:, places, :3]
    assert 1e3 * np.linalg.norm(found - wanted, axis=-1).max() <= SMALL_MM


def test_targets_with_the_root_held_are_tracked(made: tuple[Clip, Path, np.ndarray, list[int]]) -> None:
    _, path, _, _ = made
    motion, robot = play.load(str(path.with_suffix(".npz"))), Newton(path)
    steps = round(motion.duration / DT)
    play.play_targets(robot, motion, DT, steps, "held", (0.0, 0.0))
    order = play.columns(motion.dof_names, robot.joint_names)
    wanted = np.stack([play.state_at(motion, (step + 1) * DT).angles[order] for step in range(steps)])
    error = np.degrees(np.sqrt(((np.stack(robot.angles) - wanted) ** 2).mean()))
    assert error <= TRACKED_DEG
    moved = np.degrees(np.sqrt(((wanted - wanted[0]) ** 2).mean()))
    assert moved > 1.5 * error  # standing still in the first pose would not do


def test_help_on_the_root_keeps_to_its_bounds_and_keeps_it_up(made: tuple[Clip, Path, np.ndarray, list[int]]) -> None:
    _, path, _, _ = made
    motion = play.load(str(path.with_suffix(".npz")))
    heights = []
    for root, caps in (("helped", (1.2, 0.5)), ("free", (0.0, 0.0))):
        robot = Newton(path)
        play.play_targets(robot, motion, DT, 120, root, caps)
        heights.append(float(robot.data.qpos[2]))
        if root == "helped":
            most = np.repeat(np.array(caps) * motion.mass_kg * play.GRAVITY * np.array([1.0, motion.root_height_m]), 3)
            assert (np.abs(robot.pushed) <= most * (1.0 + 1e-12)).all()
    wanted = play.state_at(motion, 120 * DT).position[2]
    assert abs(heights[0] - wanted) < 0.2 * motion.root_height_m  # there is no ground: help alone bears the weight
    assert heights[1] < wanted - 0.8  # half a second of free fall is 1.2 m


def test_a_loop_goes_on_from_lap_to_lap_and_what_ends_stays(made: tuple[Clip, Path, np.ndarray, list[int]]) -> None:
    motion = play.load(str(made[1].with_suffix(".npz")))
    before, after = play.state_at(motion, motion.duration - 1e-5), play.state_at(motion, motion.duration + 1e-5)
    assert np.abs(before.position - after.position).max() < 1e-3
    assert np.abs(play.rotation_vector(play.multiply(after.quat_wxyz, play.conjugate(before.quat_wxyz)))).max() < 1e-3
    assert np.abs(before.velocity - after.velocity).max() < 0.02
    twice = play.state_at(motion, 2.0 * motion.duration).quat_wxyz
    gained = play.multiply(motion.quats_wxyz[-1, 0], play.conjugate(motion.quats_wxyz[0, 0]))
    assert np.abs(twice - play.multiply(gained, motion.quats_wxyz[-1, 0])).max() < 1e-6
    once = play.Motion(**{**vars(motion), "loop": False})
    end = play.state_at(once, 3.0 * motion.duration)
    assert np.array_equal(end.position, motion.positions[-1, 0])
    assert not end.velocity.any()


def test_a_known_turn_of_a_quarter_is_the_same_in_either_order() -> None:
    quarter = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])
    assert play.rotate(quarter, np.array([1.0, 0.0, 0.0])) == pytest.approx([0.0, 1.0, 0.0])
    isaac = play.reordered(quarter, "wxyz", "xyzw")
    assert Rotation.from_quat(isaac).apply([1.0, 0.0, 0.0]) == pytest.approx([0.0, 1.0, 0.0])
    assert np.array_equal(play.reordered(isaac, "xyzw", "wxyz"), quarter)
    assert (play.quaternion_order("3.0.0"), play.quaternion_order("2.3.1")) == ("xyzw", "wxyz")
    with pytest.raises(ValueError, match="unknown order"):
        play.reordered(quarter, "wxyz", "zyxw")


def test_a_trajectory_of_unsaid_order_or_of_another_articulation_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", fps=60)
    with pytest.raises(ValueError, match="order of its quaternions is unknown"):
        play.load(str(tmp_path / "other.npz"))
    with pytest.raises(ValueError, match="knee_l_flexion"):
        play.columns(["hip_l_flexion", "knee_l_twist"], ["hip_l_flexion", "knee_l_flexion"])
    assert play.columns(["a", "b", "c"], ["c", "a", "b"]) == [2, 0, 1]


def test_small_rotations_and_slerp_agree_with_scipy() -> None:
    rng = np.random.default_rng(3)
    for a, b in zip(Rotation.random(20, random_state=rng), Rotation.random(20, random_state=rng), strict=True):
        ours, theirs = (np.roll(turn.as_quat(), 1) for turn in (a, b))
        between = Rotation.from_quat(np.roll(play.slerp(ours, theirs, 0.3), -1))
        wanted = Rotation.from_rotvec(0.3 * (b * a.inv()).as_rotvec()) * a
        assert (between * wanted.inv()).magnitude() < 1e-9
        tiny = Rotation.from_rotvec([1e-9, 2e-9, 0.0])
        assert play.rotation_vector(np.roll(tiny.as_quat(), 1)) == pytest.approx([1e-9, 2e-9, 0.0], rel=1e-6)


class Articulation:
    """Isaac Lab's articulation as its source has it: methods of one generation that keep what they are given."""

    joint_names, body_names, device = ("a", "b"), ("pelvis", "thigh"), "cpu"
    known = (
        "write_root_link_pose_to_sim",
        "write_root_link_velocity_to_sim",
        "write_joint_position_to_sim",
        "write_joint_velocity_to_sim",
        "set_joint_position_target",
        "set_joint_velocity_target",
    )

    def __init__(self, newer: bool) -> None:
        self.given: dict[str, np.ndarray] = {}
        for name in self.known:
            setattr(self, f"{name}_index" if newer else name, self._keep(name, newer))
        if newer:
            self.permanent_wrench_composer = SimpleNamespace(set_forces_and_torques_index=self._push)
        else:
            self.set_external_force_and_torque = self._push
        import torch

        quat = [0.0, 0.0, 0.6, 0.8] if newer else [0.8, 0.0, 0.0, 0.6]
        values = {"root_link_pos_w": [1.0, 2.0, 3.0], "root_link_quat_w": quat, "root_link_lin_vel_w": [0.1, 0.2, 0.3]}
        values |= {"root_link_ang_vel_w": [0.4, 0.5, 0.6], "joint_pos": [0.7, 0.8], "joint_vel": [0.9, 1.0]}
        tensors = {name: torch.tensor([value]) for name, value in values.items()}
        self.data = SimpleNamespace(**{name: SimpleNamespace(torch=value) if newer else value for name, value in tensors.items()})

    def _keep(self, name: str, newer: bool) -> Any:
        if newer:
            return lambda **values: self.given.__setitem__(name, next(iter(values.values())).numpy())
        return lambda value: self.given.__setitem__(name, value.numpy())

    def _push(self, *, forces: Any, torques: Any, body_ids: list[int], is_global: bool) -> None:
        assert is_global
        self.given["push"] = np.concatenate([forces.numpy().ravel(), torques.numpy().ravel(), body_ids])


@pytest.mark.parametrize(("newer", "order"), [(True, "xyzw"), (False, "wxyz")])
def test_both_generations_of_isaac_lab_get_quaternions_in_their_own_order(newer: bool, order: str) -> None:
    articulation = Articulation(newer)
    robot = play.IsaacRobot(articulation, None, DT, order, "pelvis")
    state = play.State(np.arange(3.0), np.array([0.8, 0.0, 0.0, 0.6]), np.ones(3), np.full(3, 2.0), np.zeros(2), np.zeros(2))
    robot.write_root(state)
    robot.write_joints(np.array([0.1, 0.2]), np.array([0.3, 0.4]))
    robot.push_root(np.ones(3), np.full(3, 2.0))
    pose = articulation.given["write_root_link_pose_to_sim"]
    assert pose.shape == (1, 7)
    assert pose[0, 3:] == pytest.approx([0.0, 0.0, 0.6, 0.8] if newer else [0.8, 0.0, 0.0, 0.6])
    assert articulation.given["write_joint_velocity_to_sim"] == pytest.approx(np.array([[0.3, 0.4]]))
    assert articulation.given["push"] == pytest.approx([1, 1, 1, 2, 2, 2, 0])
    assert robot.root().quat_wxyz == pytest.approx([0.8, 0.0, 0.0, 0.6])

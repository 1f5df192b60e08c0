"""What users of physics in Isaac and USD complain of, tried: joints without freedom, turned inertias, drives that explode or do nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray
from physics_readback import body_states, load_in_newton, read_hinges
from pxr import Usd
from scipy.spatial.transform import Rotation

from akd_sdk.bodies import Articulation, Body, Shape
from akd_sdk.bodies.coordinates import Coordinates
from akd_sdk.bodies.drives import drives_of
from akd_sdk.bodies.inertia import Masses
from akd_sdk.bodies.tree import BodyTree
from akd_sdk.exporters.articulated import FORWARD_X, Articulated
from akd_sdk.exporters.usd_physics import add_articulation
from akd_sdk.physics import engine

Array = NDArray[np.float64]

pytestmark = pytest.mark.xdist_group("isaac")

DENSITY = 1000.0
STEP_RAD = 0.5


def capsule_inertia(radius: float, half: float, mass: float) -> Array:
    """(3, 3) of a solid capsule along y, by its cylinder and its two half balls."""
    ball, rod = 4.0 / 3.0 * np.pi * radius**3, 2.0 * np.pi * radius**2 * half
    ball, rod = mass * ball / (ball + rod), mass * rod / (ball + rod)
    along = 0.5 * rod * radius**2 + 0.4 * ball * radius**2
    across = rod * (0.25 * radius**2 + half**2 / 3.0) + ball * (0.4 * radius**2 + half**2 + 0.75 * radius * half)
    return np.diag([across, along, across])


def chain(links: int, turns: Sequence[Array], length: float = 0.2, radius: float = 0.04) -> Articulated:
    """Capsules one after the other from a heavy root, each turned so against the world at rest (3, 3), hinged at its end."""
    origin, bodies = np.array([0.0, 1.0, 0.0]), []
    for i in range(links + 1):
        turn = np.asarray(turns[min(i, len(turns) - 1)])
        mass = DENSITY * np.pi * radius**2 * (length + 4.0 / 3.0 * radius) * (20.0 if i == 0 else 1.0)
        centre = turn @ np.array([0.0, 0.5 * length, 0.0])
        inertia = turn @ capsule_inertia(radius, 0.5 * length, mass) @ turn.T
        shape = Shape("capsule", centre, turn, np.array([radius, 0.5 * length, radius]))
        axes = turn[:, [0, 2, 1]]  # flexion, abduction, twist: x, z, y of the link
        bodies.append(Body(f"link_{i}", i, i - 1, origin, mass, centre, inertia, shape, axes=axes))
        origin = origin + turn @ np.array([0.0, length, 0.0])
    count = links + 1
    tree = BodyTree(np.arange(count), np.arange(count) - 1, np.arange(count), np.ones(count, dtype=np.bool_))
    centres = np.stack([body.origin + body.centre for body in bodies])
    masses = Masses(np.array([b.mass for b in bodies]), centres, np.stack([b.inertia for b in bodies]), np.zeros(count, dtype=np.bool_))
    axes, origins = np.stack([body.axes for body in bodies]), np.stack([body.origin for body in bodies])
    drives = drives_of(tree, masses, axes, origins, [""] * count, 1.0)
    articulation = Articulation("chain", tuple(bodies), drives.stiffness, drives.damping, drives.armature, 1.0, 0.0)
    coordinates = Coordinates(articulation, np.eye(3), np.tile(np.eye(3), (count, 1, 1)))
    names = tuple(body.name for body in bodies)
    between = ((), *((f"{name}_flexion_link", f"{name}_abduction_link") for name in names[1:]))
    return Articulated(coordinates, FORWARD_X, names, between, np.stack([body.limits for body in bodies]), ())


def written(character: Articulated, path: Path) -> Path:
    stage = Usd.Stage.CreateInMemory()
    add_articulation(stage, character, "chain")
    stage.GetRootLayer().Export(str(path))
    return path


def tilted() -> Array:
    return Rotation.from_euler("ZXY", [35.0, 20.0, 50.0], degrees=True).as_matrix()


def test_the_inertia_of_a_tilted_capsule_comes_back_as_a_tensor(tmp_path: Path) -> None:
    character = chain(1, [tilted()])
    loaded = load_in_newton(written(character, tmp_path / "tilted.usda"))
    for body in character.articulation.bodies:
        wanted = FORWARD_X @ body.inertia @ FORWARD_X.T
        assert np.abs(wanted - np.diag(np.diag(wanted))).max() > 0.1 * np.abs(wanted).max()  # principal axes matter
        found = loaded.array("body_inertia")[loaded.bodies[body.name]]
        assert np.linalg.norm(found - wanted) <= 2e-6 * np.linalg.norm(wanted)


def test_an_arm_on_a_ball_joint_turns_about_all_three_axes(tmp_path: Path) -> None:
    character = chain(1, [tilted()])
    loaded = load_in_newton(written(character, tmp_path / "arm.usda"))
    rest = loaded.array("joint_q")
    angles = np.array([0.4, -0.3, 0.6])
    for name, angle in zip(character.dofs, angles, strict=True):
        rest[loaded.coordinate(name)] = angle
    states = body_states(loaded, rest)
    turn = Rotation.from_quat(states[loaded.bodies["link_1"], 3:]).as_matrix()
    frame = FORWARD_X @ tilted()
    wanted = frame @ Rotation.from_euler("XZY", angles).as_matrix() @ frame.T
    assert np.abs(turn - wanted).max() < 1e-5


def test_no_joint_is_a_ball_or_compound_whose_drives_or_axes_get_lost(tmp_path: Path) -> None:
    path = written(chain(3, [tilted()]), tmp_path / "kinds.usda")
    stage = Usd.Stage.Open(str(path))
    joints = {str(prim.GetTypeName()) for prim in stage.Traverse() if "Joint" in str(prim.GetTypeName())}
    assert joints == {"PhysicsRevoluteJoint"}
    hinges = read_hinges(stage)
    assert len(hinges) == 9
    assert all(np.isfinite(hinge.limits).all() and min(hinge.gains) > 0.0 for hinge in hinges.values())


@pytest.mark.parametrize("hertz", [240, 120])
def test_drives_of_a_chain_of_ten_links_take_a_step_of_half_a_radian(tmp_path: Path, hertz: int) -> None:
    loaded = load_in_newton(written(chain(10, [np.eye(3)]), tmp_path / "chain.usda"))
    with engine.quietly():
        how: dict[str, Any] = {"use_mujoco_cpu": True, "integrator": "implicitfast"}
        solver = engine.newton().solvers.SolverMuJoCo(loaded.model, **how)
    model, data = solver.mj_model, solver.mj_data
    model.opt.timestep = 1.0 / hertz
    model.opt.gravity[:] = 0.0
    flexions = np.array([loaded.coordinate(f"link_{i}_flexion") for i in range(1, 11)])
    data.ctrl[2 * (flexions - 7)] = STEP_RAD
    root, far = data.qpos[:7].copy(), 0.0
    for _ in range(2 * hertz):
        data.qpos[:7], data.qvel[:6] = root, 0.0
        mujoco.mj_step(model, data)
        far = max(far, float(np.abs(data.qpos[flexions]).max()))
    assert far < 2.0 * STEP_RAD  # nothing explodes
    assert np.abs(data.qpos[flexions] - STEP_RAD).max() < 0.02  # and nothing is left undone
    assert np.abs(data.qvel[6:]).max() < 0.05

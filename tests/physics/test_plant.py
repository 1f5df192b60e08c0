"""Plants: the model is the articulation on the ground, and help stays within its caps."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from steps import walking

from akd_sdk.bodies.coordinates import ROOT
from akd_sdk.motion import Motion
from akd_sdk.physics import TrackOptions
from akd_sdk.physics.options import HIGHEST_FRICTION
from akd_sdk.physics.simulate import first_fall
from akd_sdk.physics.track import Prepared, prepare
from akd_sdk.rig import Rig

pytestmark = pytest.mark.xdist_group("physics")


def test_masses_and_centres_are_those_of_the_bodies(stepping_ready: Prepared) -> None:
    model, bodies = stepping_ready.plant.model, stepping_ready.articulation.bodies
    assert np.allclose(model.body_mass[1:], [body.mass for body in bodies], rtol=1e-5)
    assert np.allclose(model.body_ipos[1:], [body.centre for body in bodies], atol=1e-5)
    moments = [np.linalg.eigvalsh(body.inertia) for body in bodies]
    assert np.allclose(np.sort(model.body_inertia[1:], axis=1), moments, rtol=1e-3)


def test_gravity_and_friction_are_as_asked(biped: Rig, steps: Motion) -> None:
    plant = prepare(biped, steps, TrackOptions(friction=0.35)).plant
    assert np.allclose(plant.model.opt.gravity, [0.0, -9.81, 0.0])
    assert np.allclose(plant.model.geom_friction[:, 0], 0.35)


@pytest.mark.parametrize("friction", [0.8, 3.0, HIGHEST_FRICTION])
def test_a_walk_sinks_in_no_more_with_more_friction(friction: float, biped: Rig) -> None:
    ready = prepare(biped, walking(biped, hertz=1.0, duty=0.6), TrackOptions(friction=friction))
    ready.simulation.set_stiffness(0.5)
    run = ready.simulation.run((0.1, 0.06))
    assert first_fall(ready.reference, run.values) is None
    turns, origins = ready.reference.coordinates.bodies(run.values)
    feet = [i for i, body in enumerate(ready.articulation.bodies) if body.foot]
    lowest = [ready.articulation.bodies[i].shape.lowest(turns[:, i], origins[:, i]).min() for i in feet]
    assert min(lowest) > -0.01 * biped.leg_length


def test_a_body_weighs_what_it_presses_on_the_ground(standing_ready: Prepared) -> None:
    model = standing_ready.plant.model
    data = mujoco.MjData(model)
    data.qpos[:] = standing_ready.reference.values[0]
    standing_ready.plant.allow(0.0, 0.0)
    pressed = []
    for control in standing_ready.simulation.controls:
        data.ctrl[:] = control
        mujoco.mj_step(model, data)
        wrench, total = np.zeros(6), 0.0
        for k in range(data.ncon):
            mujoco.mj_contactForce(model, data, k, wrench)
            total += wrench[0] * abs(data.contact[k].frame[1])
        pressed.append(total)
    assert np.mean(pressed[len(pressed) // 2 :]) == pytest.approx(standing_ready.plant.weight, rel=0.02)


def test_gains_and_armature_are_those_of_the_articulation(stepping_ready: Prepared) -> None:
    plant, body = stepping_ready.plant, stepping_ready.articulation
    model = plant.model
    plant.set_stiffness(1.0)
    assert np.allclose(model.actuator_gainprm[ROOT::2, 0], body.stiffness[1:].reshape(-1), rtol=1e-5)
    assert np.allclose(model.actuator_gainprm[ROOT + 1 :: 2, 0], body.damping[1:].reshape(-1), rtol=1e-5)
    assert np.allclose(model.dof_armature[ROOT:], body.armature[1:].reshape(-1), rtol=1e-5)
    assert np.allclose(model.dof_armature[:ROOT], 0.0)


def test_stiffer_drives_pull_harder_by_as_much(stepping_ready: Prepared) -> None:
    plant = stepping_ready.plant
    data = mujoco.MjData(plant.model)
    wanted = np.zeros((1, plant.coordinates.count))
    wanted[0, ROOT:] = 0.1
    pulls = []
    for factor in (1.0, 4.0):
        plant.set_stiffness(factor)
        data.ctrl[:] = plant.controls(wanted, np.zeros_like(wanted))[0]
        mujoco.mj_forward(plant.model, data)
        pulls.append(data.qfrc_actuator[ROOT:].copy())
    plant.set_stiffness(1.0)
    assert np.allclose(pulls[0], 0.1 * plant.coordinates.articulation.stiffness[1:].reshape(-1), rtol=1e-4)
    assert np.allclose(pulls[1], 4.0 * pulls[0], rtol=1e-5)


def test_only_the_ground_is_touched(stepping_ready: Prepared) -> None:
    model = stepping_ready.plant.model
    data = mujoco.MjData(model)
    values = np.random.default_rng(0).uniform(-1.0, 1.0, (20, model.nq))
    ground = [g for g in range(model.ngeom) if model.geom_type[g] == mujoco.mjtGeom.mjGEOM_PLANE]
    touched = 0
    for value in values:
        data.qpos[:] = value
        data.qpos[1] = -0.8
        mujoco.mj_forward(model, data)
        for k in range(data.ncon):
            touched += 1
            assert set(data.contact[k].geom) & set(ground)
    assert touched > 20


@pytest.mark.parametrize("caps", [(0.0, 0.0), (0.05, 0.03), (0.29, 0.17)])
def test_help_is_mujoco_s_own_and_within_its_caps(stepping_ready: Prepared, caps: tuple[float, float]) -> None:
    plant = stepping_ready.plant
    data = mujoco.MjData(plant.model)
    generator = np.random.default_rng(2)
    values, rates, wanted = (generator.normal(0.0, 0.05, (50, plant.coordinates.count)) for _ in range(3))
    controls = plant.controls(wanted, np.zeros_like(wanted))
    plant.allow(*caps)
    force, torque = plant.help_used(controls, values, rates, np.tile(caps, (50, 1)))
    for k in range(50):
        data.qpos[:], data.qvel[:], data.ctrl[:] = values[k], rates[k], controls[k]
        mujoco.mj_forward(plant.model, data)
        own = data.qfrc_actuator[:ROOT] / np.repeat([plant.weight, plant.weight * plant.height], 3)
        assert np.allclose(own, np.concatenate([force[k], torque[k]]), atol=1e-5)
        assert (np.abs(own[:3]) <= caps[0] + 1e-7).all()
        assert (np.abs(own[3:]) <= caps[1] + 1e-7).all()


def test_there_is_no_help_in_flight(hovering_ready: Prepared) -> None:
    reference = hovering_ready.reference
    run = hovering_ready.simulation.run((0.1, 0.06))
    flying = reference.flight[1 : len(run.force) + 1]
    assert flying.any()
    assert not flying.all()
    assert np.abs(run.force[flying]).max() == 0.0
    assert np.abs(run.torque[flying]).max() == 0.0
    assert np.abs(run.force[~flying]).max() > 0.0
    assert np.abs(run.force).max() <= 0.1
    assert np.abs(run.torque).max() <= 0.06

"""Records of trackings: heights, centre of mass, support and help are those of the states that were simulated."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from steps import standing

from akd_sdk.motion import Motion
from akd_sdk.physics import Tracked, track
from akd_sdk.physics.recording import record_of
from akd_sdk.physics.search import attempt
from akd_sdk.physics.track import Prepared
from akd_sdk.rig import Rig

pytestmark = pytest.mark.xdist_group("physics")


def test_the_centre_of_mass_is_mujoco_s(stepping_ready: Prepared, biped: Rig, steps: Motion) -> None:
    best = attempt(stepping_ready.simulation, (0.29, 0.17), 1.0)
    record, reference = record_of(biped, stepping_ready, best, steps), stepping_ready.reference
    model = stepping_ready.plant.model
    data = mujoco.MjData(model)
    every = round(1.0 / (record.fps * reference.dt))
    for k in range(0, len(record.com), 17):
        data.qpos[:] = best.run.values[reference.lead + k * every]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        assert np.abs(data.subtree_com[1] - record.com[k]).max() < 1e-4


def test_everything_has_a_row_for_every_moment(tracked_steps: Tracked) -> None:
    record = tracked_steps.record
    count, feet = len(record.com), len(record.feet)
    assert record.feet == ("LH", "RH")
    assert count / record.fps == pytest.approx(4.0, abs=0.05)
    shapes = {"heights": (count, feet), "heights_before": (count, feet), "force": (count, 3), "torque": (count, 3)}
    shapes |= {"com": (count, 3), "com_before": (count, 3), "support": (count, 2, 2), "flight": (count,)}
    for name, shape in shapes.items():
        assert getattr(record, name).shape == shape


def test_help_in_the_record_is_what_the_summary_says(tracked_steps: Tracked) -> None:
    force = np.linalg.norm(tracked_steps.record.force, axis=1)
    torque = np.linalg.norm(tracked_steps.record.torque, axis=1)
    assert force.mean() == pytest.approx(tracked_steps.mean_force, rel=0.05, abs=1e-6)
    assert torque.mean() == pytest.approx(tracked_steps.mean_torque, rel=0.05, abs=1e-6)
    assert force.max() <= tracked_steps.peak_force + 1e-9
    assert (force <= tracked_steps.caps[0] + 1e-9).all()
    assert (torque <= tracked_steps.caps[1] + 1e-9).all()


def test_a_standing_body_has_its_weight_over_its_feet(biped: Rig) -> None:
    record = track(biped, standing(biped)).record
    assert not record.flight.any()
    assert not np.isnan(record.support).any()
    ground = record.com[:, [0, 2]]
    assert ((record.support[:, 0] < ground) & (ground < record.support[:, 1])).all()
    assert np.abs(record.heights).max() < 0.01
    assert np.abs(record.com - record.com_before).max() < 0.02


def test_support_is_missing_just_where_no_foot_is_down(tracked_steps: Tracked) -> None:
    record = tracked_steps.record
    nothing = np.isnan(record.support).any(axis=(1, 2))
    assert (record.heights[nothing] > 0.0).all()
    assert (record.heights[~nothing].min(axis=1) < 0.02).all()

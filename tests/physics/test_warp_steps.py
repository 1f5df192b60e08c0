"""MuJoCo Warp's worlds step the same model as MuJoCo's C library."""

from __future__ import annotations

import numpy as np
import pytest

from akd_sdk.errors import AkdError, BackendError
from akd_sdk.motion import Motion
from akd_sdk.physics import TrackOptions, track
from akd_sdk.physics.track import Prepared
from akd_sdk.physics.warp_steps import WarpSteps
from akd_sdk.rig import Rig

pytestmark = pytest.mark.xdist_group("physics")


def test_both_engines_step_alike_for_half_a_second(stepping_ready: Prepared) -> None:
    """Two runs of a stepping body with some help, one of them begun 1 cm to the side: angles within 1e-3 rad after 0.5 s."""
    pytest.importorskip("mujoco_warp", reason="MuJoCo Warp is not installed")
    simulation, plant = stepping_ready.simulation, stepping_ready.plant
    steps = round(0.5 / plant.dt)
    plant.allow(0.05, 0.03)
    reference = simulation.reference
    state = np.concatenate([[0.0], reference.values[0], reference.rates[0]])
    states = np.stack([state, state])
    states[1, 1] += 0.01
    controls = np.stack([simulation.controls[:steps]] * 2)
    wanted = simulation.step(states, controls)
    made = WarpSteps(plant.model, "cpu").step(states, controls)
    assert made.shape == wanted.shape
    count = plant.coordinates.count
    apart = np.abs(made - wanted)
    assert np.abs(wanted[:, -1, 7 : 1 + count] - wanted[:, 0, 7 : 1 + count]).max() > 0.1  # it moves
    assert apart[..., 4 : 1 + count].max() < 1e-3
    assert apart[..., 1:4].max() < 1e-3
    assert np.allclose(made[..., 0], wanted[..., 0])


@pytest.mark.parametrize("device", ["tpu", "", "cuda:", "cuda:x", "cuda:-1", "CPU", "cpu\n"])
def test_what_is_no_device_is_refused(device: str) -> None:
    with pytest.raises(AkdError, match="--device") as caught:
        TrackOptions(device=device)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("device", ["cuda", "cuda:7"])
def test_a_device_that_is_not_there_is_refused_in_one_line(device: str, biped: Rig, steps: Motion) -> None:
    import warp as wp

    if device == "cuda" and wp.is_cuda_available():
        pytest.skip("a CUDA device is here")
    with pytest.raises(BackendError) as caught:
        track(biped, steps, TrackOptions(device=device))
    assert device in str(caught.value)
    assert "\n" not in str(caught.value)

"""What cannot be tracked is refused in one line, or tracked all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from made_rigs import worm
from steps import standing, stepping
from turned_glb import hung_glb

from akd_sdk.bodies import Articulation, articulate
from akd_sdk.errors import AkdError, RigError
from akd_sdk.motion import Motion
from akd_sdk.physics import TrackOptions, track
from akd_sdk.physics.simulate import first_fall
from akd_sdk.physics.track import prepare
from akd_sdk.readers import open_rig
from akd_sdk.rig import ContactPoint, Rig

pytestmark = pytest.mark.xdist_group("physics")

ROOT = Path(__file__).resolve().parents[2]


def refused(rig: Rig, motion: Motion, options: TrackOptions | None = None) -> str:
    with pytest.raises(AkdError) as caught:
        track(rig, motion, options)
    said = str(caught.value)
    assert "\n" not in said
    return said


@pytest.mark.parametrize("height", [0.1, 10.0, 100.0])
def test_characters_of_any_size_stand(height: float, samples: Path) -> None:
    rig = open_rig(samples / "biped.glb", height=height)
    tracked = track(rig, standing(rig))
    assert tracked.peak_force == 0.0
    assert np.abs(tracked.motion.root - tracked.motion.root[0]).max() < 0.01 * height


@pytest.mark.parametrize("height", [0.01, 100.0])
def test_steps_of_a_person_are_refused_where_size_forbids_them(height: float, samples: Path) -> None:
    """A finger's steps are over in a twentieth of a second, a tower's take ten."""
    rig = open_rig(samples / "biped.glb", height=height)
    refused(rig, stepping(rig))


def test_a_character_of_nothing_is_refused(biped: Rig, steps: Motion) -> None:
    with pytest.raises(RigError, match="mesh"):
        track(replace(biped, skins=()), steps)


@pytest.mark.parametrize(
    "placed",
    [{"translation": [0.0, 50.0, 0.0]}, {"translation": [0.0, -0.9, 0.0]}, {"scale": [-1.0, 1.0, 1.0]}],
    ids=["high", "low", "mirrored"],
)
def test_characters_stand_wherever_their_file_has_the_ground(placed: dict[str, list[float]], samples: Path, tmp_path: Path) -> None:
    rig = open_rig(hung_glb(samples / "biped.glb", tmp_path / "hung.glb", **placed))
    tracked = track(rig, standing(rig))
    assert tracked.alone_s is None
    assert tracked.peak_force == 0.0
    assert np.abs(tracked.motion.root - standing(rig).root).max() < 0.01 * rig.height


@pytest.mark.parametrize("ground", [0.0, -0.9, 50.0])
def test_what_sinks_has_fallen_wherever_the_file_has_the_ground(ground: float, samples: Path, tmp_path: Path) -> None:
    rig = open_rig(hung_glb(samples / "biped.glb", tmp_path / "hung.glb", translation=[0.0, ground, 0.0]))
    ready = prepare(rig, standing(rig), TrackOptions())
    values = ready.reference.values.copy()
    assert first_fall(ready.reference, values) is None
    values[:, 1] -= 0.5 * ready.articulation.root_height
    assert first_fall(ready.reference, values) == 0


def still(rig: Rig, frames: int = 10) -> Motion:
    rotations = np.tile(rig.skeleton.rest.rotations, (frames, 1, 1))
    return Motion("still", rotations, np.tile(rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3], (frames, 1)), 30.0)


@pytest.mark.parametrize("feet", [False, True])
@pytest.mark.parametrize("how", [{"joints": 1}, {"joints": 300}, {"joints": 6, "zero_length": True}], ids=["one", "300", "zero-length"])
def test_characters_without_legs_are_refused(how: dict[str, int], feet: bool) -> None:
    rig = worm(**how)
    if feet:
        point = ContactPoint("toe", "LH", rig.skeleton.count - 1, np.array([0.0, -0.03, 0.05]))
        rig = replace(rig, contact_points=(point, replace(point, kind="heel", offset=np.array([0.0, -0.03, 0.0]))))
    assert "feet" in refused(rig, still(rig))


@pytest.mark.parametrize("length_m", [0.001, 0.0])
def test_300_joints_with_legs_are_tracked(length_m: float, biped: Rig) -> None:
    """A character with a tail of as many joints as it takes, of short bones or of bones without a length."""
    rig = _tailed(biped, 300 - biped.skeleton.count, length_m)
    assert rig.skeleton.count == 300
    tracked = track(rig, standing(rig))
    assert tracked.motion.rotations.shape[1] == 300
    assert tracked.alone_s is None


def _tailed(rig: Rig, joints: int, length_m: float) -> Rig:
    skeleton = rig.skeleton
    count, head = skeleton.count, skeleton.pelvis
    parents = np.concatenate([[head], np.arange(count, count + joints - 1)])
    names = tuple(f"tail_{i}" for i in range(joints))
    offsets = np.zeros((joints, 3))
    offsets[:, 2] = -length_m
    longer = replace(
        skeleton,
        names=skeleton.names + names,
        source_names=skeleton.source_names + names,
        nodes=np.concatenate([skeleton.nodes, np.arange(joints) + skeleton.nodes.max() + 1]),
        parents=np.concatenate([skeleton.parents, parents]),
        solve_parents=np.concatenate([skeleton.solve_parents, parents]),
        rest=replace(
            skeleton.rest,
            translations=np.concatenate([skeleton.rest.translations, offsets]),
            rotations=np.concatenate([skeleton.rest.rotations, np.tile([0.0, 0.0, 0.0, 1.0], (joints, 1))]),
            scales=np.concatenate([skeleton.rest.scales, np.ones((joints, 3))]),
        ),
        frames=np.concatenate([skeleton.frames, np.tile([0.0, 0.0, 0.0, 1.0], (joints, 1))]),
        limits=np.concatenate([skeleton.limits, np.tile([-0.5, 0.5], (joints, 3, 1))]),
        groups=skeleton.groups + ("tail",) * joints,
        sides=np.concatenate([skeleton.sides, np.zeros(joints, dtype=skeleton.sides.dtype)]),
        roles=skeleton.roles + ("anatomy",) * joints,
    )
    binds = np.tile(np.eye(4), (joints, 1, 1))
    skins = tuple(replace(skin, inverse_binds=np.concatenate([skin.inverse_binds, binds])) for skin in rig.skins)
    source = replace(rig.source, **_longer_scales(rig, joints))
    return replace(rig, skeleton=longer, skins=skins, source=source)


def _longer_scales(rig: Rig, joints: int) -> dict[str, np.ndarray]:
    """Fields of the source that have a number for every joint."""
    values = {name: value for name, value in vars(rig.source).items() if isinstance(value, np.ndarray)}
    return {n: np.concatenate([v, np.ones(joints)]) for n, v in values.items() if v.shape == (rig.skeleton.count,)}


def test_numbers_that_are_none_make_no_motion(steps: Motion) -> None:
    rotations = steps.rotations.copy()
    rotations[3, 3] = np.nan
    with pytest.raises(AkdError, match="not finite"):
        steps.with_(rotations=rotations)


def shortened(motion: Motion, frames: int, loop: bool) -> Motion:
    translations = None if motion.translations is None else motion.translations[:frames]
    kept = {"rotations": motion.rotations[:frames], "root": motion.root[:frames], "translations": translations}
    return motion.with_(**kept, contacts=None, travel=None, loop=loop)


def test_a_pose_is_refused(biped: Rig, steps: Motion) -> None:
    assert "one frame" in refused(biped, shortened(steps, 1, False))


@pytest.mark.parametrize("loop", [False, True])
def test_two_frames_are_tracked(biped: Rig, steps: Motion, loop: bool) -> None:
    made = track(biped, shortened(steps, 2, loop)).motion
    assert made.frames == 2


@pytest.mark.parametrize("friction", [-0.1, float("nan"), float("inf"), 1e3])
def test_frictions_that_cannot_be_are_refused(friction: float) -> None:
    with pytest.raises(AkdError, match="--friction"):
        TrackOptions(friction=friction)


def test_without_friction_a_body_can_still_stand(biped: Rig) -> None:
    assert track(biped, standing(biped), TrackOptions(friction=0.0)).after.penetration_worst_percent < 2.0


@pytest.mark.parametrize("factor", [1e6, 1e12])
def test_gains_that_explode_are_told_with_time_and_body(biped: Rig, steps: Motion, factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    def wild(rig: Rig) -> Articulation:
        made = articulate(rig)
        return replace(made, stiffness=made.stiffness * factor)

    monkeypatch.setattr(import_module("akd_sdk.physics.track"), "articulate", wild)
    said = refused(biped, steps)
    assert "exploded after" in said
    assert any(body.name in said for body in articulate(biped).bodies)


@pytest.mark.parametrize("variables", [{"WARP_CACHE_PATH": "{file}/kernels"}, {"HOME": "{file}", "XDG_CACHE_HOME": "{file}/cache"}])
def test_a_kernel_cache_that_cannot_be_written_is_told_in_one_line(variables: dict[str, str], tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.touch()
    code = (
        "import sys\nfrom pathlib import Path\n"
        f"sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'tests' / 'support')!r}]\n"
        "from steps import standing\nfrom akd_sdk.errors import BackendError\n"
        "from akd_sdk.physics import track\nfrom akd_sdk.readers import open_rig\n"
        f"rig = open_rig(Path({str(ROOT / 'samples' / 'biped.glb')!r}))\n"
        "try:\n    track(rig, standing(rig))\nexcept BackendError as fault:\n    print(fault)\n"
    )
    environment = {**os.environ, **{name: value.format(file=in_the_way) for name, value in variables.items()}}
    if "WARP_CACHE_PATH" not in variables:
        environment.pop("WARP_CACHE_PATH", None)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300, check=True)
    assert len(done.stdout.splitlines()) == 1
    assert "WARP_CACHE_PATH" in done.stdout

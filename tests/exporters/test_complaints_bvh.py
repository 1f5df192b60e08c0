"""What users of other BVH tools complain of, tried: orders, mixed channels, small numbers, units, ends, rests, gimbal lock, odd text."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from export_cases import SAMPLES, smooth_motion, write_case
from export_readback import BvhFile
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from akd_sdk.errors import AkdError, ExportError
from akd_sdk.exporters import Clip, Track, check, deliver, export
from akd_sdk.exporters.bvh import make_bvh
from akd_sdk.exporters.bvh_dialects import DIALECTS
from akd_sdk.exporters.options import ExportOptions
from akd_sdk.formats.bvh import ORDERS
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig

Array = NDArray[np.float64]


@pytest.fixture(scope="module")
def rig() -> Rig:
    return open_rig(SAMPLES / "quadruped.glb")


@pytest.fixture(scope="module")
def biped() -> Rig:
    return open_rig(SAMPLES / "biped.glb")


def rigid(rig: Rig) -> Motion:
    return smooth_motion(rig).with_(translations=None)


def places(path: Path, unit: float = 0.01) -> tuple[list[str], Array]:
    names, found, _ = BvhFile(path).positions()
    return names, found * unit


def wanted(rig: Rig, clip: Clip, names: list[str]) -> Array:
    return clip.world(clip.times)[..., :3, 3][:, [rig.skeleton.names.index(name) for name in names]]


@pytest.mark.parametrize("order", ORDERS)
def test_one_pose_in_six_orders_is_one_pose(rig: Rig, order: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, "biovision", replace(DIALECTS["biovision"], order=order))  # type: ignore[arg-type]
    clip = Clip.from_motion(rig, rigid(rig))
    path = export(rig, clip, tmp_path / "a.bvh")
    assert f"CHANNELS 3 {order[0]}rotation {order[1]}rotation {order[2]}rotation" in path.read_text()
    names, found = places(path)
    assert np.abs(found - wanted(rig, clip, names)).max() * rig.human_scale < 5e-6


def test_joints_of_three_and_of_six_channels_mix(rig: Rig, tmp_path: Path) -> None:
    clip = Clip.from_motion(rig, smooth_motion(rig))
    made = deliver(rig, smooth_motion(rig), tmp_path / "a.bvh")
    assert {len(node.channels) for node in BvhFile(made.path).nodes[1:]} == {3, 6}
    names, found = places(made.path)
    assert np.abs(found - wanted(rig, clip, names)).max() * rig.human_scale < 5e-5
    assert any("their positions are places" in note for note in made.facts.notes)
    assert check(made.path) == ()


def test_movements_of_microns_are_written_without_exponents(rig: Rig, tmp_path: Path) -> None:
    motion = rigid(rig)
    still = np.tile(rig.skeleton.rest.rotations, (motion.frames, 1, 1))
    root = np.tile(rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3], (motion.frames, 1)) + 1.2e-7 * np.arange(motion.frames)[:, None]
    path = export(rig, Clip.from_motion(rig, motion.with_(rotations=still, root=root)), tmp_path / "a.bvh")
    assert not re.search(r"\d[eE][+-]?\d", path.read_text())
    file = BvhFile(path)
    np.testing.assert_allclose(np.diff(file.values[:, :3], axis=0), 1.2e-5, atol=1.1e-7)  # centimetres, to seven decimals


def test_the_same_motion_in_metres_and_centimetres_is_the_same_motion(rig: Rig, tmp_path: Path) -> None:
    clip = Clip.from_motion(rig, rigid(rig))
    found = {}
    for name in ("biovision", "blender"):
        path = export(rig, clip, tmp_path / f"{name}.bvh", options=ExportOptions(dialect=name))
        found[name] = places(path, DIALECTS[name].metres_per_unit)[1]
    np.testing.assert_allclose(found["biovision"], found["blender"], atol=2e-8)
    tall = np.ptp(found["biovision"][0], axis=0).max()
    assert 0.3 < tall < 3.0


@pytest.mark.parametrize("scale", [0.0025, 100.0])
def test_a_mouse_of_millimetres_and_a_giant_are_exact_in_every_dialect(scale: float, tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / "quadruped.glb", height=scale)
    clip = Clip.from_motion(rig, rigid(rig))
    for name, dialect in DIALECTS.items():
        path = export(rig, clip, tmp_path / f"{name}.bvh", options=ExportOptions(dialect=name))
        names, found = places(path, dialect.metres_per_unit)
        away = np.abs(found[int(dialect.first_frame) :] - wanted(rig, clip, names)).max()
        assert away * rig.human_scale < 2e-5


def test_end_sites_are_ends_and_no_joints(rig: Rig, tmp_path: Path) -> None:
    path = export(rig, Clip.from_motion(rig, rigid(rig)), tmp_path / "a.bvh")
    file = BvhFile(path)
    assert not any(re.search(r"(?i)end|nub|site", node.name) for node in file.nodes)
    parents = {node.parent for node in file.nodes}
    assert [len(node.ends) for node in file.nodes] == [int(i not in parents) for i in range(len(file.nodes))]
    assert all(np.linalg.norm(end) > 0.0 for node in file.nodes for end in node.ends)


def test_the_rest_is_in_the_offsets_whatever_the_first_frame_is(rig: Rig, tmp_path: Path) -> None:
    motion = rigid(rig)
    bent = motion.with_(rotations=motion.rotations[5:], root=motion.root[5:])
    path = export(rig, Clip.from_motion(rig, bent), tmp_path / "a.bvh")
    names, zero, _ = BvhFile(path).positions(zero=True)
    rest = rig.skeleton.rest_world[[rig.skeleton.names.index(name) for name in names], :3, 3]
    np.testing.assert_allclose(zero[0] / 100.0, rest - rest[0], atol=1e-8)
    assert np.abs(zero[0] / 100.0 - (places(path)[1][0] - places(path)[1][0, 0])).max() > 0.01


@pytest.mark.parametrize("case", ["rolled", "matrices", "armature100"])
def test_axes_of_the_source_change_neither_rest_nor_t_pose(biped: Rig, case: str, tmp_path: Path) -> None:
    other = open_rig(write_case(case, tmp_path, "biped.glb"))
    found = []
    for rig in (biped, other):
        clip = Clip.from_motion(
            rig, Motion("rest", rig.skeleton.rest.rotations[None], rig.skeleton.rest_world[[rig.skeleton.pelvis], :3, 3], 30.0)
        )
        path = export(rig, clip, tmp_path / f"{case}.bvh", force=True, options=ExportOptions(dialect="motionbuilder"))
        file = BvhFile(path)
        found.append((file.positions(zero=True)[1][0], file.values[0]))
    np.testing.assert_allclose(found[1][0], found[0][0], atol=1e-4)
    np.testing.assert_allclose(found[1][1], found[0][1], atol=1e-3)


def test_feet_stay_on_the_floor_in_files_with_another_zero_pose(biped: Rig, tmp_path: Path) -> None:
    clip = Clip.from_motion(biped, rigid(biped))
    low = []
    for t_pose in (False, True):
        path = export(biped, clip, tmp_path / f"{t_pose}.bvh", options=ExportOptions(t_pose=t_pose))
        file = BvhFile(path)
        low.append(np.concatenate([file.positions()[1][..., 1], file.positions()[2][..., 1]], axis=1).min(axis=1))
    np.testing.assert_allclose(low[1], low[0], atol=1e-5)


@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_angles_go_on_through_gimbal_lock(rig: Rig, dialect: str, tmp_path: Path) -> None:
    """A leg turns twice about the middle axis of the order, and so through its pole, exactly and by a hair beside it."""
    middle = np.eye(3)["XYZ".index(DIALECTS[dialect].order[1])]
    # what passes beside the pole turns for one frame, as exact angles do: less than a quarter, and back
    for beside, most in ((0.0, 6.5), (1e-9, 6.5), (1e-3, 90.0)):
        joint = next(chain for chain in rig.skeleton.chains if chain.kind == "leg").joints[0]
        t = np.linspace(0.0, 4.0 * np.pi, 121)  # 6 degrees a frame: 15 frames to the pole
        axis = middle + beside * np.array([0.3, 0.5, 0.7])
        world = Rotation.from_rotvec(t[:, None] * axis)
        up = Rotation.from_matrix(rig.skeleton.rest_world[rig.skeleton.parents[joint], :3, :3])
        rotations = np.tile(rig.skeleton.rest.rotations, (121, 1, 1))
        rotations[:, joint] = (up.inv() * world * up * Rotation.from_quat(rotations[:, joint])).as_quat()
        motion = Motion("turn", rotations, np.tile(rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3], (121, 1)), 30.0)
        path = export(rig, Clip.from_motion(rig, motion), tmp_path / f"{beside}.bvh", options=ExportOptions(dialect=dialect))
        file = BvhFile(path)
        own = int(DIALECTS[dialect].first_frame)
        node = next(i for i, item in enumerate(file.nodes) if item.name == rig.skeleton.names[joint])
        column = sum(len(item.channels) for item in file.nodes[:node])
        angles = file.values[own:, column : column + 3]
        assert np.abs(angles[:, 1]).max() > 700.0  # it went on through 90 degrees, and was not turned back
        assert np.abs(np.diff(angles, axis=0)).max() < most
        assert np.abs(angles[[0, -1]][:, [0, 2]]).max() < 0.5
        again = Rotation.from_euler(DIALECTS[dialect].order, angles, degrees=True)
        assert (again * world.inv()).magnitude().max() < 1e-6


@pytest.mark.parametrize(
    "odd",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: re.sub(r"\n(\t*)\{", r" {", text),
        lambda text: text.replace("\n", "\n\n"),
        lambda text: text.replace("\t", "    ").replace("HIERARCHY", "hierarchy ").replace("MOTION", "Motion  "),
        lambda text: re.sub(r"(-?\d+\.\d{7})(?= )", lambda m: f"{float(m[1]):.9e}", text),
    ],
    ids=["crlf", "brace on the same line", "blank lines", "spaces and cases", "exponents"],
)
def test_odd_but_legal_text_is_read_by_the_checker(rig: Rig, odd: object, tmp_path: Path) -> None:
    path = export(rig, Clip.from_motion(rig, smooth_motion(rig)), tmp_path / "a.bvh")
    assert callable(odd)
    changed = odd(path.read_text())
    assert changed != path.read_text()
    path.write_bytes(changed.encode())
    assert check(path) == ()


def test_the_text_is_what_the_strictest_reader_takes(rig: Rig, tmp_path: Path) -> None:
    text = export(rig, Clip.from_motion(rig, smooth_motion(rig)), tmp_path / "a.bvh").read_bytes().decode("ascii")
    lines = text.split("\n")
    assert lines[-1] == ""
    assert all(line and line == line.rstrip() and "\r" not in line for line in lines[:-1])
    assert all(line.strip() in ("{", "}") for line in lines if "{" in line or "}" in line)


def test_a_clip_without_a_rate_is_no_file(rig: Rig, tmp_path: Path) -> None:
    clip = Clip.from_motion(rig, rigid(rig))
    for fps in (0.0, -30.0, np.nan, np.inf):
        with pytest.raises(ExportError):
            export(rig, replace(clip, fps=fps), tmp_path / "a.bvh")
        with pytest.raises(ExportError):
            export(rig, clip, tmp_path / "a.bvh", options=ExportOptions(fps=fps))
    assert list(tmp_path.iterdir()) == []


def test_a_file_with_frame_time_zero_is_named(rig: Rig, tmp_path: Path) -> None:
    path = export(rig, Clip.from_motion(rig, rigid(rig)), tmp_path / "a.bvh")
    path.write_text(re.sub(r"Frame Time: .*", "Frame Time: 0", path.read_text()))
    assert [finding.code for finding in check(path)] == ["bvh-frame-time"]


@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_the_checker_finds_nothing_in_files_of_any_dialect(rig: Rig, biped: Rig, dialect: str, tmp_path: Path) -> None:
    for number, own in enumerate((rig, biped)):
        assert (
            check(export(own, Clip.from_motion(own, rigid(own)), tmp_path / f"{number}.bvh", options=ExportOptions(dialect=dialect))) == ()
        )


def test_bad_clips_leave_the_old_file_as_it_was(rig: Rig, tmp_path: Path) -> None:
    path = tmp_path / "a.bvh"
    path.write_text("old")
    clip = Clip.from_motion(rig, rigid(rig))
    unknown = Track(0, "rotation", np.array([0.0]), np.array([[np.nan, 0.0, 0.0, 1.0]]))
    with pytest.raises(AkdError):
        export(rig, replace(clip, tracks=(unknown,)), path, force=True)
    with pytest.raises(ExportError, match="exists"):
        export(rig, clip, path)
    with pytest.raises(ExportError, match="another character"):
        export(open_rig(SAMPLES / "biped.glb"), clip, path, force=True)
    with pytest.raises(ExportError):
        export(rig, clip, path, force=True, options=ExportOptions(t_pose=True))
    with pytest.raises(ExportError, match="--all-joints cannot be done"):
        export(rig, clip, path, force=True, options=ExportOptions(all_joints=True))
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["a.bvh"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_folder_that_cannot_be_written_is_told(rig: Rig, tmp_path: Path) -> None:
    with pytest.raises(ExportError):
        export(rig, Clip.from_motion(rig, rigid(rig)), Path("/dev/full/a.bvh"))


def test_joints_without_a_pelvis_or_anatomy_are_written_all_the_same(rig: Rig, tmp_path: Path) -> None:
    loose = replace(rig.skeleton, solve_parents=rig.skeleton.parents, roles=("unknown",) * rig.skeleton.count, pelvis=-1, chains=())
    bare = replace(rig, skeleton=loose, body="unknown", contact_points=())
    for name in DIALECTS:
        clip = Clip.from_motion(bare, rigid(rig))
        made = make_bvh(bare, clip, ExportOptions(dialect=name))
        assert len(made.names) == rig.skeleton.count
        assert made.error.feet_worst_m is None
        export(bare, clip, tmp_path / f"{name}.bvh", options=ExportOptions(dialect=name))

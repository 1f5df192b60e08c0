"""Complaints of users of other tools about glTF, loops, root motion, scale and engines: each a small input, and the right value.

The number before each test is that of the complaint; several share an input.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from export_cases import SAMPLES, Draft, smooth_motion, split_glb, write_case
from export_readback import GlbFile, from_file_space, true_positions
from gltf_build import Post, turn
from scipy.spatial.transform import Rotation

from akd_sdk.errors import AkdError, ExportError
from akd_sdk.exporters import Clip, ExportOptions, Track, deliver, export, load_profile
from akd_sdk.exporters.reduction import ReductionOptions, reduce
from akd_sdk.gait.ground import carried, exponential, ground_matrices
from akd_sdk.kinematics import motion_from_world, world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig


@pytest.fixture(scope="module")
def rig() -> Rig:
    return open_rig(SAMPLES / "biped.glb")


def still(rig: Rig, frames: int = 13, fps: float = 30.0, name: str = "still") -> Motion:
    root = np.tile(rig.skeleton.rest_world[max(rig.skeleton.pelvis, 0), :3, 3], (frames, 1))
    return Motion(name, np.tile(rig.skeleton.rest.rotations, (frames, 1, 1)), root, fps)


def about_x(degrees: np.ndarray) -> Rotation:
    return Rotation.from_rotvec(np.radians(degrees)[:, None] * [1.0, 0.0, 0.0])


def bending(rig: Rig, joints: list[int], name: str, fps: float = 30.0) -> Motion:
    """A motion of these joints alone."""
    motion = still(rig, fps=fps, name=name)
    rotations = motion.rotations.copy()
    for j in joints:
        swing = about_x(40.0 * np.sin(7.0 * motion.times + j))
        rotations[:, j] = (Rotation.from_quat(rotations[:, j]) * swing).as_quat()
    return motion.with_(rotations=rotations)


def walking(rig: Rig, speed: float = 1.4, frames: int = 61, bend: float = 0.0, fps: float = 30.0) -> Motion:
    """A walk of whole strides over the ground, all of it on the hips: sway of 3 cm, bob of 2 cm, `bend` radians a second."""
    t = np.arange(frames) / fps
    swing = about_x(25.0 * np.sin(2.0 * np.pi * t))
    rotations = np.tile(rig.skeleton.rest.rotations, (frames, 1, 1))
    for j in (8, 9, 12, 13):
        rotations[:, j] = (Rotation.from_quat(rotations[:, j]) * swing).as_quat()
    travel = exponential(t[:, None] * [0.0, speed, bend])
    root = rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3] + np.stack(
        [0.03 * np.sin(2 * np.pi * t), 0.02 * np.cos(4 * np.pi * t), 0 * t], -1
    )
    base = Motion("walk", rotations, root, fps, loop=True)
    world = world_from_motion(rig.skeleton, base)
    goes = carried(rig.skeleton)
    world[:, goes] = ground_matrices(travel)[:, None] @ world[:, goes]
    return motion_from_world(rig.skeleton, world, fps, name="walk", loop=True, like=base)


def shown(rig: Rig, file: GlbFile, name: str, times: np.ndarray) -> np.ndarray:
    return from_file_space(rig, file.positions(name, times, rig.skeleton.nodes))


def save(draft: Draft, folder: Path) -> Rig:
    path = folder / "source.glb"
    path.write_bytes(draft.bytes())
    return open_rig(path)


# Export: several clips, names, times


def test_c001_each_clip_holds_its_own_motion_only(rig: Rig, tmp_path: Path) -> None:
    groups = {"left": [8, 9], "right": [12, 13], "head": [4]}
    clips = [Clip.from_motion(rig, bending(rig, joints, name)) for name, joints in groups.items()]
    file = GlbFile(export(rig, clips, tmp_path / "a.glb"))
    for name, joints in groups.items():
        assert {node for node, _ in file.tracks(name)} == {int(rig.skeleton.nodes[j]) for j in joints}


def test_c002_all_clips_and_channels_are_written_and_listed(rig: Rig, tmp_path: Path) -> None:
    motions = [bending(rig, list(range(2, 2 + n)), f"clip {n}") for n in (1, 5, 9)]
    made = deliver(rig, motions, tmp_path / "a.glb")
    file = GlbFile(made.path)
    assert [(clip.name, clip.channels) for clip in made.facts.clips] == [("clip 1", 1), ("clip 5", 5), ("clip 9", 9)]
    for clip in made.facts.clips:
        assert len(file.tracks(clip.name)) == clip.channels


def test_c003_joints_beside_their_parents_tip_and_rolled_keep_their_pose(tmp_path: Path) -> None:
    rig = open_rig(write_case("rolled", tmp_path))
    motion = smooth_motion(rig, scaled=True)
    file = GlbFile(export(rig, Clip.from_motion(rig, motion), tmp_path / "a.glb"))
    times = np.linspace(0.0, motion.duration, 30)
    np.testing.assert_allclose(shown(rig, file, "swing", times), true_positions(rig, motion, times), atol=1e-5)


NAMES = ("Arm.L", "mixamorig:Leg", "my bone", "Bone001.L", "bone_001_l", "ключ", "a/b")


def renamed(folder: Path, names: tuple[str, ...] = NAMES) -> Rig:
    draft = Draft("biped.glb")
    for joint, name in zip(draft.joints[2:], names, strict=False):
        draft.json["nodes"][joint]["name"] = name
    return save(draft, folder)


@pytest.mark.parametrize("profile", [None, "godot", "unreal"])
def test_c004_c023_names_are_as_authored(profile: str | None, tmp_path: Path) -> None:
    rig = renamed(tmp_path)
    options = ExportOptions(profile=None if profile is None else load_profile(profile))
    made = deliver(rig, bending(rig, [3], "bend"), tmp_path / "a.glb", options=options)
    assert set(NAMES) <= {node.get("name") for node in split_glb(made.path.read_bytes())[0]["nodes"]}
    assert made.facts.renamed == {}


def test_c004_c022_changes_of_a_profile_are_listed_with_the_source_name(tmp_path: Path) -> None:
    rig = renamed(tmp_path, ("Wheel.", "Wheel", "Rim"))
    motion = bending(rig, [rig.skeleton.names.index("Wheel")], "spin")
    made = deliver(rig, motion, tmp_path / "a.glb", options=ExportOptions(profile=load_profile("web")))
    assert made.facts.renamed == {"Wheel": "Wheel_2"}
    file = GlbFile(made.path)
    assert [file.gltf.nodes[node].name for node, _ in file.tracks("spin")] == ["Wheel_2"]


def test_c022_of_two_nodes_of_one_name_the_right_one_moves(tmp_path: Path) -> None:
    draft = Draft("biped.glb")
    first, second = draft.joints[4], draft.joints[8]
    for joint in (first, second):
        draft.json["nodes"][joint]["name"] = "Wheel"
    rig = save(draft, tmp_path)
    moved = int(np.flatnonzero(rig.skeleton.nodes == second)[0])
    file = GlbFile(export(rig, Clip.from_motion(rig, bending(rig, [moved], "spin")), tmp_path / "a.glb"))
    assert [node for node, _ in file.tracks("spin")] == [second]
    assert [motion.held for motion in open_rig(tmp_path / "a.glb").clips] == [frozenset()]


def test_c005_a_clip_that_starts_at_frame_one_starts_at_zero_and_loses_nothing(rig: Rig, tmp_path: Path) -> None:
    draft_rig = open_rig(export(rig, Clip.from_motion(rig, bending(rig, [4], "bend", 24.0)), tmp_path / "a.glb"))
    content, blob = split_glb((tmp_path / "a.glb").read_bytes())
    times = content["accessors"][content["animations"][0]["samplers"][0]["input"]]
    view = content["bufferViews"][times["bufferView"]]
    start = view.get("byteOffset", 0) + times.get("byteOffset", 0)
    data = bytearray(blob)
    keys = np.frombuffer(blob, "<f4", times["count"], start) + np.float32(1.0 / 24.0)
    data[start : start + keys.nbytes] = keys.astype("<f4").tobytes()
    times |= {"min": [float(keys[0])], "max": [float(keys[-1])]}
    from export_cases import join_glb

    (tmp_path / "late.glb").write_bytes(join_glb(content, bytes(data)))
    late = open_rig(tmp_path / "late.glb")
    file = GlbFile(export(late, Clip.from_motion(late, late.clips[0].with_(name="again")), tmp_path / "b.glb"))
    ((grid, values),) = file.tracks("again").values()
    assert grid[0] == 0.0
    assert grid[-1] == pytest.approx(late.clips[0].duration, abs=1e-6)
    original = draft_rig.clips[0].rotations[:, 4]
    turns = (Rotation.from_quat(original[-13:]).inv() * Rotation.from_quat(values[-13:])).magnitude()
    assert turns.max() < 1e-5


def test_c006_what_a_clip_does_not_move_has_no_channel_unless_asked(rig: Rig, tmp_path: Path) -> None:
    arm = bending(rig, [8], "arm")
    assert len(GlbFile(deliver(rig, arm, tmp_path / "a.glb").path).tracks("arm")) == 1
    forced = deliver(rig, arm, tmp_path / "b.glb", options=ExportOptions(all_joints=True))
    assert len(GlbFile(forced.path).tracks("arm")) == 3 * 22


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_c007_a_clip_does_not_keep_the_pose_of_the_one_before(order: list[int], rig: Rig, tmp_path: Path) -> None:
    motions = [bending(rig, [8, 9], "both"), bending(rig, [9], "one")]
    file = GlbFile(export(rig, [Clip.from_motion(rig, motions[i]) for i in order], tmp_path / "a.glb"))
    for motion in motions:
        np.testing.assert_allclose(shown(rig, file, motion.name, motion.times), true_positions(rig, motion, motion.times), atol=1e-5)


@pytest.mark.parametrize("effort", ["none", "fast"])
def test_c008_c036_a_full_turn_plays_as_one(effort: str, rig: Rig, tmp_path: Path) -> None:
    motion = still(rig, 31)
    rotations = motion.rotations.copy()
    spin = Rotation.from_euler("Y", np.linspace(0.0, 360.0, 31)[:, None], degrees=True)
    rotations[:, 4] = (Rotation.from_quat(rotations[:, 4]) * spin).as_quat()
    made = deliver(rig, motion.with_(rotations=rotations), tmp_path / "a.glb", options=ExportOptions(reduction=effort))  # type: ignore[arg-type]
    ((times, values),) = GlbFile(made.path).tracks("still").values()
    steps = Rotation.from_quat(values[:-1]).inv() * Rotation.from_quat(values[1:])
    assert np.degrees(steps.magnitude()).max() <= 60.0
    assert np.degrees(steps.magnitude()).sum() == pytest.approx(360.0, abs=0.5)
    assert times[-1] == pytest.approx(1.0)


def test_c009_c012_exporting_changes_nothing_and_a_round_trip_gives_the_same(rig: Rig, tmp_path: Path) -> None:
    def digest() -> str:
        parts = [motion.rotations, motion.root, rig.skeleton.rest.matrices, *(skin.vertices for skin in rig.skins)]
        text = json.dumps(rig.source.document.json).encode()
        return hashlib.sha256(b"".join([*(part.tobytes() for part in parts), text, *rig.source.document.buffers])).hexdigest()

    motion = smooth_motion(rig)
    before = digest()
    first = deliver(rig, motion, tmp_path / "a.glb", options=ExportOptions(profile=load_profile("web"), reduction="fast"))
    again = deliver(rig, motion, tmp_path / "b.glb", options=ExportOptions(profile=load_profile("web"), reduction="fast"))
    assert digest() == before
    assert first.path.read_bytes() == again.path.read_bytes()
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / "c.glb")
    back = open_rig(path)
    twice = open_rig(export(back, Clip.from_motion(back, back.clips[0].with_(name="again")), tmp_path / "d.glb"))
    old, new = twice.clips
    np.testing.assert_allclose(np.abs(np.sum(old.rotations * new.rotations, -1)), 1.0, atol=1e-6)
    np.testing.assert_allclose(new.root, old.root, atol=1e-6)


def test_c010_a_minute_of_idling_is_small(rig: Rig) -> None:
    frames = 1801
    t = np.arange(frames) / 30.0
    motion = still(rig, frames)
    rotations = motion.rotations.copy()
    sway = about_x(2.0 * np.sin(2 * np.pi * t / 4.0))
    for j in (2, 3):
        rotations[:, j] = (Rotation.from_quat(rotations[:, j]) * sway).as_quat()
    made = reduce(rig, Clip.from_motion(rig, motion.with_(rotations=rotations)), ReductionOptions(int16=False)).report
    assert made.worst_m <= 1e-3
    assert made.bytes < 0.25 * made.dense_bytes


def test_c014_c042_which_clip_loops_is_in_the_file_and_in_its_name_for_godot(rig: Rig, tmp_path: Path) -> None:
    motions = [bending(rig, [8], "walk").with_(loop=True), bending(rig, [9], "jump"), bending(rig, [9], "loop the loop")]
    made = deliver(rig, motions, tmp_path / "a.glb", options=ExportOptions(profile=load_profile("godot")))
    found = {item["name"]: item["extras"]["loop"] for item in split_glb(made.path.read_bytes())[0]["animations"]}
    assert found == {"walk-loop": True, "jump": False, "once_loop the loop_once": False}
    plain = deliver(rig, motions, tmp_path / "b.glb")
    assert [item["name"] for item in split_glb(plain.path.read_bytes())[0]["animations"]] == ["walk", "jump", "loop the loop"]


@pytest.mark.parametrize("fps", [24.0, 25.0, 30.0, 60.0])
def test_c015_c083_c084_the_frame_rate_is_told_and_keys_lie_on_its_frames(fps: float, rig: Rig, tmp_path: Path) -> None:
    made = deliver(rig, bending(rig, [4], "bend", fps), tmp_path / "a.glb", options=ExportOptions(profile=load_profile("godot")))
    assert made.facts.import_fps == fps
    assert split_glb(made.path.read_bytes())[0]["animations"][0]["extras"]["fps"] == fps
    ((times, values),) = GlbFile(made.path).tracks("bend").values()
    assert times[0] == 0.0
    assert len(values) == 13
    np.testing.assert_allclose(times * fps, np.round(times * fps), atol=1e-5)
    assert open_rig(made.path).clips[0].fps == pytest.approx(fps)


@pytest.mark.parametrize("fps", [0.0, np.inf, np.nan, -30.0])
def test_c016_a_rate_that_gives_no_times_is_refused(fps: float, rig: Rig) -> None:
    with pytest.raises(AkdError, match="fps"):
        still(rig, fps=fps)
    with pytest.raises(ExportError, match="no positive numbers"):
        Clip("c", rig.skeleton, fps, 1.0, False, "hips", ())


def test_c017_a_clip_without_motion_is_written_and_no_clip_is_an_error(rig: Rig, tmp_path: Path) -> None:
    file = GlbFile(export(rig, Clip.from_motion(rig, still(rig)), tmp_path / "a.glb"))
    assert len(file.tracks("still")) == 1
    with pytest.raises(ExportError, match="there is no clip to write"):
        deliver(rig, (), tmp_path / "b.glb")
    with pytest.raises(AkdError, match="at least one frame"):
        Motion("none", np.zeros((0, 23, 4)), np.zeros((0, 3)), 30.0)
    assert not (tmp_path / "b.glb").exists()


def test_c018_c019_clips_of_files_without_a_mesh_bind_to_the_character(rig: Rig, tmp_path: Path) -> None:
    """Their names and rest are the character's, so their clips are motions of it."""
    clips = {name: bending(rig, joints, name) for name, joints in {"a": [4], "b": [8, 9], "c": [12]}.items()}
    motions = []
    for name, motion in clips.items():
        alone = deliver(rig, motion, tmp_path / f"{name}.glb", options=ExportOptions(clip_only=True))
        assert "meshes" not in split_glb(alone.path.read_bytes())[0]
        assert alone.path.stat().st_size < 20_000
        other = open_rig(alone.path, height=rig.height)
        assert other.skeleton.names == rig.skeleton.names
        index = {node.name: i for i, node in enumerate(GlbFile(alone.path).gltf.nodes)}
        assert [index[name] for name in rig.skeleton.source_names] == [int(node) for node in other.skeleton.nodes]
        motions += other.clips
    merged = deliver(rig, [m.with_(root=clips[m.name].root) for m in motions], tmp_path / "all.glb")
    file = GlbFile(merged.path)
    for name, motion in clips.items():
        np.testing.assert_allclose(
            shown(rig, file, name, motion.times)[:, [4, 8, 12]], true_positions(rig, motion, motion.times)[:, [4, 8, 12]], atol=1e-4
        )


# Import: files as they are


def test_c024_joints_given_by_matrices_have_the_same_rest_and_become_transforms_where_they_move(tmp_path: Path) -> None:
    plain, matrices = open_rig(write_case("rolled", tmp_path)), open_rig(write_case("matrices", tmp_path))
    np.testing.assert_allclose(matrices.skeleton.rest_world, plain.skeleton.rest_world, atol=1e-6)
    motion = smooth_motion(matrices)
    file = GlbFile(export(matrices, Clip.from_motion(matrices, motion), tmp_path / "a.glb"))
    for node, _ in file.tracks("swing"):
        assert file.gltf.nodes[node].matrix is None


def test_c025_a_node_between_joints_stays_a_node(tmp_path: Path) -> None:
    draft = Draft("biped.glb")
    nodes, joint = draft.json["nodes"], draft.joints[5]
    parent = next(i for i, node in enumerate(nodes) if joint in node.get("children", []))
    nodes.append({"name": "Helper", "children": [joint]})
    nodes[parent]["children"] = [len(nodes) - 1 if child == joint else child for child in nodes[parent]["children"]]
    rig = save(draft, tmp_path)
    motion = bending(rig, list(range(2, 10)), "bend")
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / "a.glb")
    content = split_glb(path.read_bytes())[0]
    assert content["skins"] == draft.json["skins"]
    assert content["nodes"] == nodes
    np.testing.assert_allclose(shown(rig, GlbFile(path), "bend", motion.times), true_positions(rig, motion, motion.times), atol=1e-5)


def test_c026_a_bind_pose_unlike_the_rest_keeps_both(tmp_path: Path) -> None:
    draft = Draft("biped.glb")
    for joint in draft.joints[3:6]:
        draft.json["nodes"][joint]["rotation"] = turn("x", 20.0)
    rig = save(draft, tmp_path)
    back = open_rig(export(rig, Clip.from_motion(rig, still(rig)), tmp_path / "a.glb"))
    for old, new in zip(rig.skins, back.skins, strict=True):
        np.testing.assert_array_equal(new.inverse_binds, old.inverse_binds)
        np.testing.assert_array_equal(new.at_rest(back.skeleton.rest_world), old.at_rest(rig.skeleton.rest_world))


def test_c028_signs_of_rotations_are_continuous(rig: Rig, tmp_path: Path) -> None:
    motion = bending(rig, [4, 8], "bend")
    flips = np.where(np.arange(13) % 2, -1.0, 1.0)[:, None, None]
    for options in (ExportOptions(), ExportOptions(reduction="fast"), ExportOptions(profile=load_profile("unity"), reduction="fast")):
        path = deliver(rig, motion.with_(rotations=motion.rotations * flips), tmp_path / "a.glb", options=options, force=True).path
        for _, values in GlbLoose(path).tracks("bend").values():
            assert (np.sum(values[1:] * values[:-1], axis=-1) > 0.0).all()


class GlbLoose(GlbFile):
    """Reads normalised 16-bit values too."""

    def values(self, index: int) -> np.ndarray:
        accessor = self.gltf.accessors[index]
        if accessor.componentType == 5126:
            return super().values(index)
        view = self.gltf.bufferViews[accessor.bufferView]
        start = (view.byteOffset or 0) + (accessor.byteOffset or 0)
        flat = np.frombuffer(self.gltf.binary_blob(), "<i2", accessor.count * 4, start)
        return np.maximum(flat / 32767.0, -1.0).reshape(-1, 4)


def test_c030_cubic_keys_of_a_source_are_written_as_what_the_specification_plays(tmp_path: Path) -> None:
    """Four of seven engines misplay CUBICSPLINE: what is written is linear, and follows the formula at every frame."""
    post = Post()
    keys = np.array([[[0, 0, 0], [0, 0, 0], [0, 0, 3.0]], [[0, 0, -2.0], [0, 0, 1.0], [0, 0, 0]]])
    post.animation([(post.joints[0], "translation", [0.0, 1.0], keys, "CUBICSPLINE")], name="slide")
    rig = open_rig(post.save(tmp_path / "a.glb"))
    path = export(rig, Clip.from_motion(rig, rig.clips[0].with_(name="again")), tmp_path / "b.glb")
    times, values = GlbFile(path).tracks("again")[post.joints[0], "translation"]
    u = times
    wanted = (u**3 - 2 * u**2 + u) * 3.0 + (3 * u**2 - 2 * u**3) * 1.0 + (u**3 - u**2) * -2.0
    np.testing.assert_allclose(values[:, 2], wanted, atol=1e-5)
    assert len(times) >= 25


def test_c032_a_skinned_mesh_below_a_moved_and_scaled_node_is_where_its_joints_are(tmp_path: Path) -> None:
    draft = Draft("biped.glb")
    mesh = next(i for i, node in enumerate(draft.json["nodes"]) if "mesh" in node)
    draft.json["nodes"].append({"name": "Moved", "children": [mesh], "translation": [5.0, 6.0, 7.0], "scale": [3.0, 3.0, 3.0]})
    scene = draft.json["scenes"][0]
    scene["nodes"] = [len(draft.json["nodes"]) - 1 if node == mesh else node for node in scene["nodes"]]
    moved, plain = save(draft, tmp_path), open_rig(SAMPLES / "biped.glb")
    for a, b in zip(moved.skins, plain.skins, strict=True):
        np.testing.assert_allclose(a.at_rest(moved.skeleton.rest_world), b.at_rest(plain.skeleton.rest_world), atol=1e-9)
    content = split_glb(export(moved, Clip.from_motion(moved, still(moved)), tmp_path / "a.glb").read_bytes())[0]
    assert content["nodes"] == draft.json["nodes"]


# Root motion


def test_c047_a_walk_on_a_curve_goes_to_the_root_with_its_yaw_and_the_body_stays(rig: Rig) -> None:
    motion = walking(rig, bend=0.8)
    clip = Clip.from_motion(rig, motion, "root")
    kept = [j for j in range(rig.skeleton.count) if j != clip.root_joint]
    wanted = world_from_motion(rig.skeleton, motion)[..., :3, 3]
    np.testing.assert_allclose(clip.world(clip.times)[..., :3, 3][:, kept], wanted[:, kept], atol=1e-9)
    assert clip.travel is not None
    assert clip.travel[-1, 2] == pytest.approx(1.6, abs=0.02)


def test_c048_a_straight_walk_on_the_hips_is_extracted_by_one_option_and_the_rest_told(rig: Rig, tmp_path: Path) -> None:
    clip = deliver(rig, walking(rig), tmp_path / "a.glb", root_mode="root").facts.clips[0]
    assert clip.root_error_mm is not None
    assert clip.sway_mm is not None
    assert clip.root_error_mm < 1e-6
    assert clip.sway_mm == pytest.approx(30.0, abs=2.0)
    tracks = GlbFile(tmp_path / "a.glb").tracks("walk")
    armature = int(rig.skeleton.nodes[0])
    np.testing.assert_allclose(tracks[armature, "translation"][1][-1, 2], 2.8, atol=1e-3)


@pytest.mark.parametrize("mode", ["root", "in_place", "hips"])
def test_c049_travel_on_the_armature_node_is_found_and_kept(mode: str, rig: Rig) -> None:
    t = np.arange(61) / 30.0
    base = walking(rig, speed=0.0)
    places = np.tile(rig.skeleton.rest.translations, (61, 1, 1))
    places[:, 0, 2] += 1.4 * t  # the armature goes
    root = base.root + np.stack([0 * t, 0 * t, 1.4 * t], -1)
    motion = base.with_(translations=places, root=root)
    clip = Clip.from_motion(rig, motion, mode)
    pelvis = clip.world(clip.times)[:, rig.skeleton.pelvis, :3, 3]
    np.testing.assert_allclose(pelvis, base.root if mode == "in_place" else root, atol=2e-3)
    if mode == "root":
        np.testing.assert_allclose(clip.world(clip.times)[:, 0, 2, 3], 1.4 * t, atol=2e-3)


def test_c050_the_root_follows_and_lies_below_the_body(rig: Rig) -> None:
    clip = Clip.from_motion(rig, walking(rig, bend=0.5), "root")
    world = clip.world(clip.times)[..., :3, 3]
    apart = np.linalg.norm((world[:, clip.root_joint] - world[:, rig.skeleton.pelvis])[:, [0, 2]], axis=-1)
    assert apart.max() < 0.06


def test_c051_in_place_keeps_bob_and_sway(rig: Rig) -> None:
    motion = walking(rig, speed=2.0)
    clip = Clip.from_motion(rig, motion, "in_place")
    pelvis = clip.world(clip.times)[:, rig.skeleton.pelvis, :3, 3]
    assert np.ptp(pelvis[:, 0]) == pytest.approx(0.06, abs=2e-3)
    assert np.ptp(pelvis[:, 1]) == pytest.approx(0.04, abs=1e-3)
    assert np.ptp(pelvis[:, 2]) < 1e-6
    assert clip.travel is not None
    np.testing.assert_allclose(clip.travel[-1], [0.0, 4.0, 0.0], atol=1e-6)


# Scale and size


@pytest.mark.parametrize("mode", ["hips", "root", "in_place"])
def test_c079_c081_an_armature_of_hundred_stays_itself_in_every_root_mode(mode: str, tmp_path: Path) -> None:
    source = write_case("armature100", tmp_path, "biped.glb")
    rig = open_rig(source)
    motion = walking(rig)
    path = export(rig, Clip.from_motion(rig, motion, mode), tmp_path / "a.glb")
    file = GlbFile(path)
    assert not any(path == "scale" for _, path in file.tracks("walk"))
    assert [node.scale for node in file.gltf.nodes] == [node.scale for node in GlbFile(source).gltf.nodes]
    found = shown(rig, file, "walk", motion.times)
    wanted = true_positions(rig, motion, motion.times)
    if mode == "in_place":
        wanted = wanted - [0.0, 0.0, 1.0] * (1.4 * motion.times)[:, None, None]
    above = 1 + int(rig.skeleton.names.index("Armature") if "Armature" in rig.skeleton.names else 0) + 1
    np.testing.assert_allclose(found[:, above:], wanted[:, above:], atol=1e-4)


@pytest.mark.parametrize("height", [0.0178, 178.0])
def test_c080_another_height_scales_mesh_and_motion_together(height: float, tmp_path: Path) -> None:
    """The file's own unit is kept, so a motion planned at any physical size is the same in the file."""
    small, plain = open_rig(SAMPLES / "biped.glb", height=height), open_rig(SAMPLES / "biped.glb")
    factor = height / plain.height
    motion = walking(plain)
    scaled = motion.with_(root=motion.root * factor, translations=None if motion.translations is None else motion.translations * factor)
    a = GlbFile(export(plain, Clip.from_motion(plain, motion), tmp_path / "a.glb"))
    b = GlbFile(export(small, Clip.from_motion(small, scaled), tmp_path / "b.glb"))
    nodes = plain.skeleton.nodes
    np.testing.assert_allclose(b.positions("walk", motion.times, nodes), a.positions("walk", motion.times, nodes), atol=1e-5)


# Engines


def test_c087_an_added_root_is_the_skins_root(rig: Rig, tmp_path: Path) -> None:
    options = ExportOptions(profile=load_profile("unity"), add_root=True)
    path = deliver(rig, walking(rig, speed=2.5), tmp_path / "a.glb", options=options).path
    content = split_glb(path.read_bytes())[0]
    (skin,) = content["skins"]
    assert content["nodes"][skin["skeleton"]]["name"] == "root"
    primitive = content["meshes"][0]["primitives"][0]
    accessor = content["accessors"][primitive["attributes"]["POSITION"]]
    vertices = rig.skins[0].vertices
    np.testing.assert_allclose([accessor["min"], accessor["max"]], [vertices.min(axis=0), vertices.max(axis=0)], atol=1e-6)


def three_roots(draft: Draft) -> None:
    nodes = draft.json["nodes"]
    armature = next(i for i in draft.json["scenes"][0]["nodes"] if "mesh" not in nodes[i])
    hips = nodes[armature]["children"][0]
    legs = nodes[hips]["children"][-2:]
    offset = np.array(nodes[hips].get("translation", [0.0, 0.0, 0.0]))
    for leg in legs:
        nodes[hips]["children"].remove(leg)
        nodes[leg]["translation"] = (np.array(nodes[leg].get("translation", [0.0, 0.0, 0.0])) + offset).tolist()
        nodes[armature]["children"].append(leg)


def test_c088_several_root_bones_get_one_on_demand_and_are_told_of_otherwise(tmp_path: Path) -> None:
    draft = Draft("biped.glb")
    three_roots(draft)
    rig = save(draft, tmp_path)
    unreal = load_profile("unreal")
    plain = deliver(rig, still(rig), tmp_path / "a.glb", options=ExportOptions(profile=unreal)).facts
    assert any("wants one root bone, there are 3" in note and "--add-root makes one" in note for note in plain.notes)
    made = deliver(rig, still(rig), tmp_path / "b.glb", options=ExportOptions(profile=unreal, add_root=True))
    assert not any("wants one root bone" in note for note in made.facts.notes)
    content = split_glb(made.path.read_bytes())[0]
    joints = set(content["skins"][0]["joints"])
    above = {child: i for i, node in enumerate(content["nodes"]) for child in node.get("children", [])}
    assert [content["nodes"][joint]["name"] for joint in joints if above.get(joint) not in joints] == ["root"]


def test_c089_more_bones_than_the_engine_takes_are_told_of(tmp_path: Path) -> None:
    post = Post(build=False)
    joints: list[int] = []
    for i in range(300):
        joints.append(post.node(joints[-1] if joints else None, name=f"bone {i}", translation=[0.0, 0.006 if i else 0.0, 0.0]))
    post.joints = joints
    binds = np.tile(np.eye(4), (300, 1, 1))
    binds[:, 1, 3] = -0.006 * np.arange(300)
    skin = post.add("skins", {"joints": joints, "inverseBindMatrices": post.accessor(binds.transpose(0, 2, 1).reshape(300, 16))})
    mesh = post.add("meshes", {"primitives": [post.primitive()]})
    post.node(name="body", mesh=mesh, skin=skin)
    rig = open_rig(post.save(tmp_path / "chain.glb"))
    made = deliver(rig, still(rig), tmp_path / "a.glb", options=ExportOptions(profile=load_profile("unreal")))
    assert any("the skin has 300 bones" in note for note in made.facts.notes)


BROKEN: dict[str, Callable[[Rig], Clip]] = {
    "unknown joint": lambda rig: Clip("c", rig.skeleton, 30.0, 1.0, False, "hips", (Track(99, "rotation", np.zeros(1), np.eye(4)[3:]),)),
    "nan": lambda rig: Clip("c", rig.skeleton, 30.0, 1.0, False, "hips", (Track(0, "translation", np.zeros(1), np.full((1, 3), np.nan)),)),
    "times": lambda rig: Clip(
        "c", rig.skeleton, 30.0, 1.0, False, "hips", (Track(0, "translation", np.array([0.5, 0.5]), np.zeros((2, 3))),)
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_clips_that_no_engine_could_play_are_never_made(fault: str, rig: Rig) -> None:
    with pytest.raises(ExportError, match="c: "):
        BROKEN[fault](rig)

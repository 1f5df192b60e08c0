"""Animated previews: they play for ever, as long as the motion, without a seam, with the character in the middle; whole or not at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from akd_sdk.errors import AkdError, ExportError, RigError
from akd_sdk.motion import Motion
from akd_sdk.progress import Progress
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig
from akd_sdk.sheet import preview, save_preview

SIZE = (90, 120)


@pytest.fixture(autouse=True)
def few_gaussians(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough for small pictures."""
    monkeypatch.setattr(preview, "GAUSSIANS", 1000)


def walking(rig: Rig, *, frames: int = 13, fps: float = 12.0, travel_m: float = 0.9, loop: bool = True) -> Motion:
    """The rest pose, going forward evenly and bobbing."""
    time = np.linspace(0.0, 1.0, frames)
    root = rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3] + travel_m * time[:, None] * rig.forward
    root[:, 1] += 0.02 * rig.height * np.sin(2.0 * np.pi * time)
    travel = np.zeros((frames, 3))
    travel[:, :2] = travel_m * time[:, None] * rig.forward[[0, 2]]
    rotations = np.tile(rig.skeleton.rest.rotations, (frames, 1, 1))
    return Motion(name="walking", rotations=rotations, root=root, fps=fps, loop=loop, travel=travel)


@pytest.fixture(scope="module")
def dog(samples: Path) -> Rig:
    return open_rig(samples / "quadruped.glb")


def played(path: Path) -> tuple[list[np.ndarray], float, int]:
    """Pictures, seconds a round, and the number of rounds (0 is for ever)."""
    pictures, total = [], 0.0
    with Image.open(path) as image:
        rounds = int(image.info["loop"])
        for frame in range(image.n_frames):
            image.seek(frame)
            total += float(image.info["duration"]) / 1000.0
            pictures.append(np.asarray(image.convert("RGB")).astype(int))
    return pictures, total, rounds


def coat(picture: np.ndarray) -> np.ndarray:
    return np.asarray((picture[..., 0] - picture[..., 2] > 22) & (picture[..., 0] < 222))


@pytest.mark.parametrize("suffix", [".png", ".apng", ".gif", ".PNG"])
def test_a_preview_plays_for_ever_and_as_long_as_the_motion(dog: Rig, suffix: str, tmp_path: Path) -> None:
    path = save_preview(dog, walking(dog), tmp_path / f"dog{suffix}", size=SIZE)
    pictures, seconds, rounds = played(path)
    assert rounds == 0
    assert len(pictures) == 12, "the last frame of a loop is its first"
    assert seconds == pytest.approx(1.0, abs=0.011)
    assert pictures[0].shape == (*SIZE, 3)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_the_character_stays_in_the_middle_while_the_ground_goes_by(dog: Rig, tmp_path: Path) -> None:
    pictures, _, _ = played(save_preview(dog, walking(dog, travel_m=2.0), tmp_path / "dog.png", size=SIZE))
    places = np.array([np.argwhere(coat(picture)).mean(axis=0) for picture in pictures])
    assert np.abs(places - [SIZE[0] / 2.0, SIZE[1] / 2.0]).max() < 10.0
    assert np.ptp(places[:, 1]) < 1.0
    assert np.ptp(places[:, 0]) > 0.6, "bobbing is seen"
    assert np.abs(pictures[3][-8:] - pictures[0][-8:]).max() > 30


def test_a_loop_has_no_seam_on_the_ground(dog: Rig, tmp_path: Path) -> None:
    pictures, _, _ = played(save_preview(dog, walking(dog), tmp_path / "dog.png", size=SIZE))
    changes = [float(np.abs(a - b)[-20:].mean()) for a, b in zip(pictures, pictures[1:] + pictures[:1])]
    assert changes[-1] < 1.3 * max(changes[:-1])
    assert min(changes) > 0.5


def test_a_motion_that_ends_shows_its_last_frame(dog: Rig, tmp_path: Path) -> None:
    pictures, seconds, _ = played(save_preview(dog, walking(dog, loop=False), tmp_path / "dog.gif", size=SIZE))
    assert len(pictures) == 13
    assert seconds == pytest.approx(13.0 / 12.0, abs=0.011)


def test_fast_motions_are_sampled_anew(dog: Rig, tmp_path: Path) -> None:
    pictures, seconds, _ = played(save_preview(dog, walking(dog, frames=61, fps=60.0), tmp_path / "dog.png", size=SIZE))
    assert len(pictures) == 20
    assert seconds == pytest.approx(1.0, abs=0.011)


def test_one_frame_is_a_picture(dog: Rig, tmp_path: Path) -> None:
    with Image.open(save_preview(dog, walking(dog, frames=1, loop=False), tmp_path / "dog.gif", size=SIZE)) as image:
        assert image.size == (SIZE[1], SIZE[0])


@pytest.mark.parametrize("name", ["dog.mp4", "dog", "dog.jpg"])
def test_other_suffixes_are_refused(dog: Rig, name: str, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"a preview is a \.png, \.apng or \.gif"):
        save_preview(dog, walking(dog), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [(0, 120), (90, 63), (90, 4000)])
def test_sizes_out_of_range_are_refused(dog: Rig, size: tuple[int, int], tmp_path: Path) -> None:
    with pytest.raises(AkdError, match=r"size: a preview of .* ask for 64 to 2048"):
        save_preview(dog, walking(dog), tmp_path / "dog.png", size=size)


def test_what_is_there_is_replaced_only_by_force(dog: Rig, tmp_path: Path) -> None:
    (tmp_path / "dog.png").write_bytes(b"mine")
    with pytest.raises(ExportError, match="exists already"):
        save_preview(dog, walking(dog), tmp_path / "dog.png", size=SIZE)
    assert (tmp_path / "dog.png").read_bytes() == b"mine"
    save_preview(dog, walking(dog), tmp_path / "dog.png", size=SIZE, force=True)
    assert played(tmp_path / "dog.png")[2] == 0


def test_an_interrupted_preview_leaves_nothing(dog: Rig, tmp_path: Path) -> None:
    told: list[float] = []

    def stop(report: Progress) -> None:
        told.append(report.fraction)
        if report.fraction > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        save_preview(dog, walking(dog), tmp_path / "dog.png", size=SIZE, progress=stop)
    assert list(tmp_path.iterdir()) == []
    assert told == sorted(told)
    told.clear()
    save_preview(dog, walking(dog), tmp_path / "dog.png", size=SIZE, progress=lambda report: told.append(report.fraction))
    assert told[0] == 0.0
    assert told[-1] == 1.0


def test_a_motion_of_another_skeleton_is_refused(dog: Rig, samples: Path, tmp_path: Path) -> None:
    with pytest.raises(RigError, match="joints, the character"):
        save_preview(dog, walking(open_rig(samples / "biped.glb")), tmp_path / "dog.png", size=SIZE)

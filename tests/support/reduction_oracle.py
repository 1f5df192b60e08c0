"""Made clips to reduce, and an oracle that decodes what a GLB would hold and plays it with scipy, matrix by matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

from akd_sdk.exporters.clip import Clip, Track
from akd_sdk.exporters.gltf import file_values, key_data
from akd_sdk.exporters.gltf_keys import KeyData
from akd_sdk.rig import Rig, Skeleton, Source, Transforms

Array = NDArray[np.float64]
SHELL = 0.03


def made_rig(joints: int = 9, *, size: float = 1.0, file_unit: float = 1.0, root_scale: float = 1.0, seed: int = 3) -> Rig:
    """A small branching character, `size` metres tall.

    file_unit: metres of one unit of the file. root_scale: scale of the file's root node, as armatures that are 100 times too large have.
    """
    rng = np.random.default_rng(seed)
    parents = np.array([-1, 0, 1, 2, 1, 4, 1, 6, 7, 8, 9, 5][:joints])
    bones = rng.normal(size=(joints, 3))
    bones *= size * 0.3 / np.linalg.norm(bones, axis=1, keepdims=True)
    turns = Rotation.random(joints, random_state=seed).as_quat()
    names = tuple(f"joint{i}" for i in range(joints))
    rest = Transforms(bones, turns, np.ones((joints, 3)))
    skeleton = Skeleton.bare(names, names, np.arange(joints), parents, rest)
    extent = float(np.ptp(skeleton.rest_world[:, :3, 3], axis=0).max())
    units = np.full(joints, file_unit * root_scale)
    turned = Rotation.from_euler("x", 90, degrees=True).as_matrix()
    source = Source(Path("made.glb"), "glb", file_unit, turned, np.array([0.1, -0.2, 0.3]) * size, units)
    return Rig("made", skeleton, (), (), source, "unknown", size, np.array([0.0, 0.0, 1.0]), (), 0.0, 1.7 / extent)


def made_clip(
    rig: Rig, frames: int = 60, *, fps: float = 30.0, speed: float = 1.0, offset: float = 0.0, scaled: bool = False, noise: float = 2e-3
) -> Clip:
    """Smooth motion of all joints with noise (radians) in it; the root travels, from `offset` metres off."""
    rng = np.random.default_rng(11)
    time = np.arange(frames) / fps
    rest = rig.skeleton.rest
    tracks = []
    size = float(np.ptp(rig.skeleton.rest_world[:, :3, 3], axis=0).max())
    for j in range(rig.skeleton.count):
        phase, pace = rng.uniform(0.0, 6.0, 3), rng.uniform(0.5, 2.0, 3) * speed
        swing = 0.5 * np.sin(2.0 * np.pi * pace * time[:, None] + phase) + rng.normal(0.0, 1.0, (frames, 3)) * noise
        turns = (Rotation.from_quat(rest.rotations[j]) * Rotation.from_rotvec(swing)).as_quat()
        tracks.append(Track(j, "rotation", time, continuous(turns)))
        if j == 0:
            path = rest.translations[0] + size * np.stack([time, 0.05 * np.sin(9.0 * time), 0.3 * time**2], axis=1) + offset
            tracks.append(Track(0, "translation", time, path))
        if scaled and j in (1, 4):
            tracks.append(Track(j, "scale", time, 1.0 + 0.3 * np.sin(3.0 * time[:, None] + phase)))
    return Clip("made", rig.skeleton, fps, float(time[-1]) if frames else 0.0, False, "hips", tuple(tracks))


def with_tracks(clip: Clip, *tracks: Track) -> Clip:
    return replace(clip, tracks=tuple(tracks))


def continuous(turns: Array) -> Array:
    signs = np.cumprod(np.append(1.0, np.where((turns[1:] * turns[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)))
    return np.asarray(turns * signs[:, None])


@dataclass(frozen=True)
class Channel:
    """Decoded keys of one channel."""

    node: int
    path: str
    times: Array
    values: Array
    held: bool


def decoded(keys: KeyData) -> list[Channel]:
    """The channels of an animation, read from its JSON and bytes alone."""

    def read(index: int) -> Array:
        accessor = keys.accessors[index]
        short = accessor["componentType"] == 5122
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        data = np.frombuffer(
            bytes(keys.blocks[accessor["bufferView"]]), "<i2" if short else "<f4", accessor["count"] * width, accessor.get("byteOffset", 0)
        ).astype(np.float64)
        if short:
            assert accessor["normalized"] is True
            data = np.maximum(data / 32767.0, -1.0)
        return data.reshape(-1, width) if width > 1 else data

    out = []
    for channel in keys.channels:
        sampler = keys.samplers[channel["sampler"]]
        times = read(sampler["input"])
        bounds = keys.accessors[sampler["input"]]
        assert [np.float32(bounds["min"][0]), np.float32(bounds["max"][0])] == [times.min(), times.max()]
        held = sampler.get("interpolation", "LINEAR") == "STEP"
        out.append(Channel(channel["target"]["node"], channel["target"]["path"], times, read(sampler["output"]), held))
    return out


def played(channel: Channel, time: Array, nlerp: bool) -> Array:
    """Values at times, as a player shows them."""
    keys, values = channel.times, channel.values
    if len(keys) == 1:
        return np.repeat(values, len(time), axis=0)
    inside = np.clip(time, keys[0], keys[-1])
    if channel.held:
        return np.asarray(values[np.maximum(np.searchsorted(keys, time, side="right") - 1, 0)])
    if channel.path != "rotation":
        return np.stack([np.interp(inside, keys, column) for column in values.T], axis=1)
    if not nlerp:
        return np.asarray(Slerp(keys, Rotation.from_quat(values))(inside).as_quat())
    near = continuous(values / np.linalg.norm(values, axis=1, keepdims=True))
    mixed = np.stack([np.interp(inside, keys, column) for column in near.T], axis=1)
    return np.asarray(mixed / np.linalg.norm(mixed, axis=1, keepdims=True))


def world(rig: Rig, channels: list[Channel], time: Array, nlerp: bool = False) -> Array:
    """(n, joints, 4, 4) transforms in the file's space."""
    skeleton = rig.skeleton
    local = {}
    for path, rest in (("translation", skeleton.rest.translations), ("rotation", skeleton.rest.rotations), ("scale", skeleton.rest.scales)):
        local[path] = [file_values(rig, Track(j, path, np.zeros(1), rest[j : j + 1])) for j in range(skeleton.count)]  # type: ignore[arg-type]
    for channel in channels:
        local[channel.path][channel.node] = played(channel, time, nlerp)
    out = np.zeros((len(time), skeleton.count, 4, 4))
    for j, parent in enumerate(skeleton.parents):
        matrix = np.zeros((len(time), 4, 4))
        matrix[:, :3, :3] = Rotation.from_quat(local["rotation"][j]).as_matrix() * local["scale"][j][:, None, :]
        matrix[:, :3, 3] = local["translation"][j]
        matrix[:, 3, 3] = 1.0
        out[:, j] = matrix if parent < 0 else out[:, parent] @ matrix
    return out


def errors(rig: Rig, dense: Clip, reduced: Clip, nlerp: bool = False) -> Array:
    """(times, joints) metres at human size that points 3 cm around each joint are off, at four times the frame rate."""
    unit = rig.source.scale * rig.human_scale
    time = np.arange(4 * (dense.frames - 1) + 1) / (4.0 * dense.fps)
    true = world(rig, decoded(key_data(rig, dense)), time, nlerp)
    found = world(rig, decoded(key_data(rig, reduced)), time, nlerp)
    length = np.linalg.norm(true[..., :3, :3], axis=-2)
    worst = np.zeros(true.shape[:2])
    for axis in range(3):
        point = np.zeros((*true.shape[:2], 4))
        point[..., axis] = SHELL / unit / length[..., axis]
        point[..., 3] = 1.0
        apart = np.einsum("njab,njb->nja", found - true, point)[..., :3] * unit
        worst = np.maximum(worst, np.linalg.norm(apart, axis=-1))
    return worst

"""Independent readers of what was exported: pygltflib's values with a sampler of the tests' own, UsdSkel, and a BVH of the tests' own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pygltflib
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

from akd_sdk.kinematics import world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig

Array = NDArray[np.float64]


def true_positions(rig: Rig, motion: Motion, times: Array) -> Array:
    """Joint positions (n, joints, 3) in metres with locals interpolated: scipy's slerp for rotations, lines for the rest."""
    skeleton, frames = rig.skeleton, motion.frames
    world = world_from_motion(skeleton, motion)
    shape = (frames, skeleton.count, 3)
    places = np.array(np.broadcast_to(skeleton.rest.translations, shape) if motion.translations is None else motion.translations)
    scales = np.array(np.broadcast_to(skeleton.rest.scales, shape) if motion.scales is None else motion.scales)
    pelvis = skeleton.pelvis
    if pelvis >= 0:
        parent = skeleton.parents[pelvis]
        up = world[:, parent] if parent >= 0 else np.tile(np.eye(4), (frames, 1, 1))
        places[:, pelvis] = (np.linalg.inv(up) @ world[:, pelvis])[:, :3, 3]
    out = np.empty((len(times), skeleton.count, 4, 4))
    for j, parent in enumerate(skeleton.parents):
        local = _locals(motion.times, places[:, j], motion.rotations[:, j], scales[:, j], times)
        out[:, j] = local if parent < 0 else out[:, parent] @ local
    return out[..., :3, 3]


def _locals(keys: Array, places: Array, rotations: Array, scales: Array, times: Array) -> Array:
    times = np.clip(times, keys[0], keys[-1])
    turned = Slerp(keys, Rotation.from_quat(rotations))(times) if len(keys) > 1 else Rotation.from_quat(np.repeat(rotations, len(times), 0))
    out = np.tile(np.eye(4), (len(times), 1, 1))
    mix = [np.stack([np.interp(times, keys, part[:, c]) for c in range(3)], -1) for part in (places, scales)]
    out[:, :3, :3] = turned.as_matrix() * mix[1][:, None, :]
    out[:, :3, 3] = mix[0]
    return out


class GlbFile:
    """A GLB through pygltflib."""

    def __init__(self, path: Path) -> None:
        self.gltf = pygltflib.GLTF2().load(str(path))
        self.parents = {child: i for i, node in enumerate(self.gltf.nodes) for child in node.children or []}

    def values(self, index: int) -> Array:
        accessor = self.gltf.accessors[index]
        view = self.gltf.bufferViews[accessor.bufferView]
        assert accessor.componentType == pygltflib.FLOAT
        assert not view.byteStride
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor.type]
        start = (view.byteOffset or 0) + (accessor.byteOffset or 0)
        flat = np.frombuffer(self.gltf.binary_blob(), "<f4", accessor.count * width, start).astype(np.float64)
        return flat.reshape(-1, width)

    def animation(self, name: str) -> Any:
        return next(animation for animation in self.gltf.animations if animation.name == name)

    def tracks(self, name: str) -> dict[tuple[int, str], tuple[Array, Array]]:
        animation = self.animation(name)
        tracks = {}
        for channel in animation.channels:
            sampler = animation.samplers[channel.sampler]
            assert sampler.interpolation == "LINEAR"
            tracks[channel.target.node, channel.target.path] = (self.values(sampler.input)[:, 0], self.values(sampler.output))
        return tracks

    def positions(self, name: str, times: Array, nodes: NDArray[np.int64]) -> Array:
        """World positions (n, nodes, 3) in the file's space."""
        tracks = self.tracks(name)
        world: dict[int, Array] = {}

        def get(node: int) -> Array:
            if node not in world:
                local = self._local(node, tracks, times)
                world[node] = get(self.parents[node]) @ local if node in self.parents else local
            return world[node]

        return np.stack([get(int(node))[:, :3, 3] for node in nodes], axis=1)

    def _local(self, node: int, tracks: dict[tuple[int, str], tuple[Array, Array]], times: Array) -> Array:
        item = self.gltf.nodes[node]
        moved = [path for path in ("translation", "rotation", "scale") if (node, path) in tracks]
        if item.matrix is not None:
            assert not moved, "a node with a matrix must not be animated"
            return np.tile(np.array(item.matrix).reshape(4, 4).T, (len(times), 1, 1))
        fixed = {
            "translation": item.translation or [0.0, 0.0, 0.0],
            "rotation": item.rotation or [0.0, 0.0, 0.0, 1.0],
            "scale": item.scale or [1.0, 1.0, 1.0],
        }
        parts = {path: (np.zeros(1), np.array([value], dtype=np.float64)) for path, value in fixed.items()}
        parts |= {path: tracks[node, path] for path in moved}
        out = np.tile(np.eye(4), (len(times), 1, 1))
        out[:, :3, :3] = self._turns(*parts["rotation"], times) * _line(*parts["scale"], times)[:, None, :]
        out[:, :3, 3] = _line(*parts["translation"], times)
        return out

    @staticmethod
    def _turns(keys: Array, values: Array, times: Array) -> Array:
        assert np.allclose(np.linalg.norm(values, axis=-1), 1.0, atol=1e-5)
        if len(keys) == 1:
            return np.tile(Rotation.from_quat(values[0]).as_matrix(), (len(times), 1, 1))
        return np.asarray(Slerp(keys, Rotation.from_quat(values))(np.clip(times, keys[0], keys[-1])).as_matrix())


def _line(keys: Array, values: Array, times: Array) -> Array:
    return np.stack([np.interp(times, keys, values[:, c]) for c in range(values.shape[1])], -1)


def from_file_space(rig: Rig, points: Array) -> Array:
    """File points (..., 3) in the rig's space."""
    source = rig.source
    return np.asarray(source.scale * points @ source.rotation.T + source.translation)


class UsdFile:
    """A USD through UsdSkel's own queries."""

    def __init__(self, path: Path) -> None:
        from pxr import Usd, UsdGeom, UsdSkel

        self.stage = Usd.Stage.Open(str(path))
        assert UsdGeom.GetStageUpAxis(self.stage) == UsdGeom.Tokens.y
        assert UsdGeom.GetStageMetersPerUnit(self.stage) == 1.0
        self.root = UsdSkel.Root(self.stage.GetDefaultPrim())
        assert self.root
        self._cache = UsdSkel.Cache()  # queries die with it
        predicate = Usd.TraverseInstanceProxies()
        self._cache.Populate(self.root, predicate)
        self.bindings = self._cache.ComputeSkelBindings(self.root, predicate)
        skeletons = [prim for prim in Usd.PrimRange(self.root.GetPrim()) if prim.IsA(UsdSkel.Skeleton)]
        self.queries = [self._cache.GetSkelQuery(UsdSkel.Skeleton(prim)) for prim in skeletons]
        assert all(query and query.GetAnimQuery() for query in self.queries)

    def positions(self, times: Array) -> Array:
        """(n, joints, 3) metres, in the order of the joints."""
        from pxr import Usd, UsdGeom

        rows = []
        for t in times * self.stage.GetTimeCodesPerSecond():
            matrices = self.queries[0].ComputeJointWorldTransforms(UsdGeom.XformCache(Usd.TimeCode(float(t))))
            rows.append([matrix.ExtractTranslation() for matrix in matrices])
        return np.array(rows)

    def skinned(self, seconds: float) -> dict[str, Array]:
        """World points of every mesh by its prim's name."""
        from pxr import Usd, UsdGeom

        time = Usd.TimeCode(seconds * self.stage.GetTimeCodesPerSecond())
        found = {}
        for binding in self.bindings:
            transforms = self._cache.GetSkelQuery(binding.GetSkeleton()).ComputeSkinningTransforms(time)
            for target in binding.GetSkinningTargets():
                points = UsdGeom.Mesh(target.GetPrim()).GetPointsAttr().Get()
                assert target.ComputeSkinnedPoints(transforms, points, time)
                found[target.GetPrim().GetName()] = np.array(points, dtype=np.float64)
        return found


@dataclass
class BvhNode:
    name: str
    parent: int
    offset: Array
    channels: list[str]
    ends: list[Array]


class BvhFile:
    """A BVH by its published grammar: words, braces, numbers."""

    def __init__(self, path: Path) -> None:
        words = path.read_text().split()
        self.nodes: list[BvhNode] = []
        stack: list[int] = []
        at = 1
        assert words[0] == "HIERARCHY"
        while words[at] != "MOTION":
            if words[at] in ("ROOT", "JOINT"):
                self.nodes.append(BvhNode(words[at + 1], stack[-1] if stack else -1, np.zeros(3), [], []))
                assert words[at + 2] == "{"
                stack.append(len(self.nodes) - 1)
                at += 3
            elif words[at] == "OFFSET":
                self.nodes[stack[-1]].offset = np.array(words[at + 1 : at + 4], dtype=np.float64)
                at += 4
            elif words[at] == "CHANNELS":
                count = int(words[at + 1])
                self.nodes[stack[-1]].channels = words[at + 2 : at + 2 + count]
                at += 2 + count
            elif words[at : at + 2] == ["End", "Site"]:
                assert words[at + 2] == "{"
                assert words[at + 3] == "OFFSET"
                assert words[at + 7] == "}"
                self.nodes[stack[-1]].ends.append(np.array(words[at + 4 : at + 7], dtype=np.float64))
                at += 8
            else:
                assert words[at] == "}"
                stack.pop()
                at += 1
        assert not stack
        assert words[at + 1] == "Frames:"
        assert words[at + 3 : at + 5] == ["Frame", "Time:"]
        self.frame_time = float(words[at + 5])
        self.values = np.array(words[at + 6 :], dtype=np.float64).reshape(int(words[at + 2]), -1)
        assert self.values.shape[1] == sum(len(node.channels) for node in self.nodes)

    def positions(self, *, zero: bool = False) -> tuple[list[str], Array, Array]:
        """Names, positions (frames, joints, 3) in the file's unit, and those of end sites; `zero`: the pose of the offsets alone."""
        frames = 1 if zero else len(self.values)
        world = np.empty((frames, len(self.nodes), 4, 4))
        column, ends = 0, []
        for i, node in enumerate(self.nodes):
            local = np.tile(np.eye(4), (frames, 1, 1))
            local[:, :3, 3] = node.offset
            for channel in node.channels:
                if not zero:
                    values, axis = self.values[:, column], "XYZ".index(channel[0])
                    if channel.endswith("position"):
                        local[:, axis, 3] = values
                    else:
                        turn = Rotation.from_euler(channel[0], values[:, None], degrees=True).as_matrix()
                        local[:, :3, :3] = local[:, :3, :3] @ turn
                column += 1
            world[:, i] = local if node.parent < 0 else world[:, node.parent] @ local
            ends += [(world[:, i, :3, :3] @ end) + world[:, i, :3, 3] for end in node.ends]
        return [node.name for node in self.nodes], world[..., :3, 3], np.stack(ends, axis=1)

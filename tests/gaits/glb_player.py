"""The tests' own reader of a GLB: pygltflib's values, own interpolation, own hierarchy, own skinning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pygltflib import GLTF2

DTYPES = {5120: np.int8, 5121: np.uint8, 5122: np.int16, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class GlbPlayer:
    """Nodes, skins and one animation of a GLB, evaluated at any times in glTF's world."""

    def __init__(self, path: Path) -> None:
        self.gltf = GLTF2().load_binary(str(path))
        self.blob = self.gltf.binary_blob()
        self.names = {node.name: i for i, node in enumerate(self.gltf.nodes)}
        self.parents = [-1] * len(self.gltf.nodes)
        for i, node in enumerate(self.gltf.nodes):
            for child in node.children or []:
                self.parents[child] = i

    def accessor(self, index: int) -> np.ndarray:
        a = self.gltf.accessors[index]
        view = self.gltf.bufferViews[a.bufferView]
        dtype, width = np.dtype(DTYPES[a.componentType]), WIDTHS[a.type]
        start, stride = (view.byteOffset or 0) + (a.byteOffset or 0), view.byteStride or dtype.itemsize * width
        rows = np.lib.stride_tricks.as_strided(
            np.frombuffer(self.blob, np.uint8, offset=start)[: stride * (a.count - 1) + dtype.itemsize * width],
            (a.count, dtype.itemsize * width),
            (stride, 1),
        )
        values = np.ascontiguousarray(rows).view(dtype).astype(np.float64)
        return values / np.iinfo(dtype).max if a.normalized else values

    def rest(self, i: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        node = self.gltf.nodes[i]
        if node.matrix is not None:
            m = np.array(node.matrix, float).reshape(4, 4).T
            scale = np.linalg.norm(m[:3, :3], axis=0)
            return m[:3, 3], quaternion(m[:3, :3] / scale), scale
        return (
            np.array(node.translation or [0, 0, 0], float),
            np.array(node.rotation or [0, 0, 0, 1], float),
            np.array(node.scale or [1, 1, 1], float),
        )

    def duration(self, animation: str) -> float:
        return max(float(self.accessor(s.input)[-1, 0]) for s in self._animation(animation).samplers)

    def _animation(self, name: str):
        return next(a for a in self.gltf.animations if a.name == name)

    def world(self, animation: str | None, times: np.ndarray) -> np.ndarray:
        """(times, nodes, 4, 4)."""
        count = len(self.gltf.nodes)
        trs = [[np.tile(part, (len(times), 1)) for part in self.rest(i)] for i in range(count)]
        if animation is not None:
            clip = self._animation(animation)
            for channel in clip.channels:
                sampler = clip.samplers[channel.sampler]
                assert sampler.interpolation in (None, "LINEAR")
                kind = {"translation": 0, "rotation": 1, "scale": 2}[channel.target.path]
                keys, values = self.accessor(sampler.input)[:, 0], self.accessor(sampler.output)
                trs[channel.target.node][kind] = interpolate(keys, values, times, kind == 1)
        world: dict[int, np.ndarray] = {}

        def place(i: int) -> np.ndarray:
            if i not in world:
                t, r, s = trs[i]
                m = np.zeros((len(times), 4, 4))
                m[:, :3, :3] = matrices(r) * s[:, None, :]
                m[:, :3, 3] = t
                m[:, 3, 3] = 1.0
                world[i] = m if self.parents[i] < 0 else place(self.parents[i]) @ m
            return world[i]

        return np.stack([place(i) for i in range(count)], axis=1)

    def skinned(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Of each skinned primitive: vertices (n, 4), joint nodes (n, k), weights (n, k), inverse binds by node (nodes, 4, 4)."""
        found = []
        for node in self.gltf.nodes:
            if node.mesh is None or node.skin is None:
                continue
            skin = self.gltf.skins[node.skin]
            joints = np.array(skin.joints)
            binds = np.zeros((len(self.gltf.nodes), 4, 4))
            binds[joints] = self.accessor(skin.inverseBindMatrices).reshape(-1, 4, 4).transpose(0, 2, 1)
            for primitive in self.gltf.meshes[node.mesh].primitives:
                at = primitive.attributes
                points = self.accessor(at.POSITION)
                weights = self.accessor(at.WEIGHTS_0)
                weights = weights / weights.sum(axis=1, keepdims=True)
                found.append(
                    (
                        np.concatenate([points, np.ones((len(points), 1))], axis=1),
                        joints[self.accessor(at.JOINTS_0).astype(int)],
                        weights,
                        binds,
                    )
                )
        return found


def skin_vertices(part: tuple[np.ndarray, ...], rows: np.ndarray, world: np.ndarray) -> np.ndarray:
    """World paths (frames, rows, 3) of some vertices of a skinned primitive."""
    points, joints, weights, binds = part
    out = np.zeros((len(world), len(rows), 3))
    for k in range(joints.shape[1]):
        m = world[:, joints[rows, k]] @ binds[joints[rows, k]]
        out += weights[rows, k][None, :, None] * np.einsum("fnij,nj->fni", m[:, :, :3], points[rows])
    return out


def interpolate(keys: np.ndarray, values: np.ndarray, times: np.ndarray, rotation: bool) -> np.ndarray:
    """LINEAR of glTF 2.0, appendix C: slerp for rotations."""
    if len(keys) == 1:
        return np.tile(values[0], (len(times), 1))
    t = np.clip(times, keys[0], keys[-1])
    i = np.clip(np.searchsorted(keys, t, side="right") - 1, 0, len(keys) - 2)
    u = ((t - keys[i]) / (keys[i + 1] - keys[i]))[:, None]
    a, b = values[i], values[i + 1]
    if not rotation:
        return a + u * (b - a)
    dot = (a * b).sum(1, keepdims=True)
    b, dot = np.where(dot < 0, -b, b), np.abs(dot)
    angle = np.arccos(np.clip(dot, 0, 1))
    near = angle < 1e-6
    sine = np.where(near, 1.0, np.sin(angle))
    q = np.where(near, a + u * (b - a), (np.sin((1 - u) * angle) * a + np.sin(u * angle) * b) / sine)
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def matrices(q: np.ndarray) -> np.ndarray:
    x, y, z, w = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    return np.stack(
        [
            1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),
            2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
            2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y),
        ],
        axis=1,
    ).reshape(-1, 3, 3)  # fmt: skip


def quaternion(m: np.ndarray) -> np.ndarray:
    w = np.sqrt(max(0.0, 1 + m[0, 0] + m[1, 1] + m[2, 2])) / 2
    x = np.copysign(np.sqrt(max(0.0, 1 + m[0, 0] - m[1, 1] - m[2, 2])) / 2, m[2, 1] - m[1, 2])
    y = np.copysign(np.sqrt(max(0.0, 1 - m[0, 0] + m[1, 1] - m[2, 2])) / 2, m[0, 2] - m[2, 0])
    z = np.copysign(np.sqrt(max(0.0, 1 - m[0, 0] - m[1, 1] + m[2, 2])) / 2, m[1, 0] - m[0, 1])
    return np.array([x, y, z, w])

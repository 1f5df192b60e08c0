"""Rigs to put Gaussians on, poses for them, and the deformed mesh by another way: skinned vertices, barycentric in between."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from opened import opened
from scipy.spatial.transform import Rotation

from akd_sdk.gaussians import GaussianPoser, Gaussians
from akd_sdk.kinematics import skin_points, world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.rig import Material, Rig, Skeleton, Skin, Source, Transforms

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

SAMPLES = ("biped", "quadruped")
SHARED = {
    "Fox": "khronos/Fox.glb",
    "CesiumMan": "khronos/CesiumMan.glb",
    "Wolf": "quaternius/animals_pack/Wolf.glb",
}
AROUND, ALONG = 24, 41
TUBE_RADIUS, TUBE_LENGTH = 0.1, 1.0


def rig_of(samples: Path, shared: Path | None, name: str) -> Rig:
    """A sample, or a character of the shared data, by name."""
    return opened(samples / f"{name}.glb") if shared is None else opened(shared / "data" / "rigs" / SHARED[name])


def bent(rig: Rig, *, frames: int = 3, seed: int = 0, largest_rad: float = 0.9) -> Array:
    """World transforms (frames, joints, 4, 4): each joint turned at random against rest, the root carried off."""
    rng = np.random.default_rng(seed)
    count = rig.skeleton.count
    turns = Rotation.from_rotvec(rng.uniform(-1.0, 1.0, (frames * count, 3)) * largest_rad / np.sqrt(3.0))
    rest = Rotation.from_quat(np.tile(rig.skeleton.rest.rotations, (frames, 1, 1)).reshape(-1, 4))
    root = rig.skeleton.rest_world[max(rig.skeleton.pelvis, 0), :3, 3] + rng.normal(size=(frames, 3))
    return world_from_motion(rig.skeleton, Motion("bent", (rest * turns).as_quat().reshape(frames, count, 4), root, 30.0))


def rest_bent(rig: Rig, largest_rad: float = 0.3) -> Rig:
    """The same rig with another rest pose than the one that the skin is bound in."""
    rest = rig.skeleton.rest
    rng = np.random.default_rng(1)
    turns = Rotation.from_rotvec(rng.uniform(-1.0, 1.0, (rig.skeleton.count, 3)) * largest_rad)
    turned = replace(rest, rotations=(Rotation.from_quat(rest.rotations) * turns).as_quat())
    return replace(rig, skeleton=replace(rig.skeleton, rest=turned))


def posed(gaussians: Gaussians, world: Array) -> tuple[Array, Array]:
    """Means and covariances, float64."""
    means, covariances = GaussianPoser(gaussians, torch.float64)(torch.from_numpy(world))
    return means.numpy(), covariances.numpy()


@dataclass(frozen=True)
class Triangles:
    """The triangles of all skins of a rig: corners at rest and, as asked, posed."""

    rig: Rig

    def corners(self, world: Array) -> Array:
        """(frames, m, 3 corners, 3) metres."""
        return np.concatenate([skin_points(s, world)[:, s.triangles] for s in self.rig.skins if len(s.triangles)], axis=1)

    @property
    def rest(self) -> Array:
        """(m, 3, 3)."""
        return self.corners(self.rig.skeleton.rest_world[None])[0]

    def longest_edge(self) -> float:
        """Metres."""
        rest = self.rest
        return float(np.linalg.norm(rest - rest[:, [1, 2, 0]], axis=-1).max())

    def locate(self, points: Array) -> tuple[Ints, Array]:
        """Which triangle at rest each point (n, 3) lies on, and its barycentric shares (n, 3)."""
        rest = self.rest
        a, u, v = rest[:, 0], rest[:, 1] - rest[:, 0], rest[:, 2] - rest[:, 0]
        normal = np.cross(u, v)
        squared = np.maximum((normal * normal).sum(-1), 1e-300)
        found, shares = np.zeros(len(points), dtype=np.int64), np.zeros((len(points), 3))
        size = np.sqrt(np.sqrt(squared))
        for n, point in enumerate(points):
            away = point - a
            second = (np.cross(away, v) * normal).sum(-1) / squared
            third = (np.cross(u, away) * normal).sum(-1) / squared
            each = np.stack([1.0 - second - third, second, third], axis=-1)
            height = np.abs((away * normal).sum(-1)) / np.sqrt(squared) / size
            outside = np.maximum(-each.min(axis=1), 0.0) + height
            found[n] = outside.argmin()
            shares[n] = each[found[n]]
        return found, shares

    def spread(self, count: int, seed: int) -> tuple[Ints, Array]:
        """Random points by area: triangles (count,) and shares (count, 3)."""
        rng = np.random.default_rng(seed)
        rest = self.rest
        areas = np.linalg.norm(np.cross(rest[:, 1] - rest[:, 0], rest[:, 2] - rest[:, 0]), axis=-1)
        return rng.choice(len(areas), count, p=areas / areas.sum()), rng.dirichlet([1.0, 1.0, 1.0], count)


def tube(*, texture: NDArray[np.uint8] | None = None, colour: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0), sharp: float = 0.1) -> Rig:
    """A tube along Y on two joints, one at the bottom, one in the middle; weights go over linearly within `sharp` metres of it.

    Texture coordinates go once around and once along.
    """
    angle = np.linspace(0.0, 2.0 * np.pi, AROUND + 1)
    height = np.linspace(0.0, TUBE_LENGTH, ALONG)
    y, a = (grid.ravel() for grid in np.meshgrid(height, angle, indexing="ij"))
    vertices = np.stack([TUBE_RADIUS * np.cos(a), y, -TUBE_RADIUS * np.sin(a)], axis=1)
    first = (np.arange(ALONG - 1)[:, None] * (AROUND + 1) + np.arange(AROUND)).ravel()
    over = first + AROUND + 1
    triangles = np.concatenate([np.stack([first, first + 1, over], 1), np.stack([first + 1, over + 1, over], 1)])
    upper = np.clip(0.5 + (y - 0.5 * TUBE_LENGTH) / (2.0 * sharp), 0.0, 1.0)
    parents = np.array([-1, 0])
    rest = Transforms(np.array([[0.0, 0.0, 0.0], [0.0, 0.5 * TUBE_LENGTH, 0.0]]), np.tile([0.0, 0, 0, 1], (2, 1)), np.ones((2, 3)))
    skeleton = Skeleton.bare(("lower", "upper"), (None, None), np.arange(2), parents, rest)
    skin = Skin(
        name="tube",
        node=0,
        vertices=vertices,
        normals=None,
        uvs=np.stack([a / (2.0 * np.pi), y / TUBE_LENGTH], axis=1),
        triangles=triangles,
        joints=np.tile(np.array([0, 1]), (len(vertices), 1)),
        weights=np.stack([1.0 - upper, upper], axis=1),
        inverse_binds=np.linalg.inv(skeleton.rest_world),
        material=Material("skin", np.array(colour), texture),
    )
    source = Source(Path("tube.glb"), "made", 1.0, np.array([0.0, 0, 0, 1]), np.zeros(3), np.ones(2))
    return Rig("tube", skeleton, (skin,), (), source, "unknown", TUBE_LENGTH, np.array([0.0, 0.0, 1.0]), (), 0.0, 1.0)


def elbow(rig: Rig, angle_rad: float) -> Array:
    """World transforms (1, 2, 4, 4) of the tube with its upper half turned about X."""
    world = rig.skeleton.rest_world.copy()
    world[1, :3, :3] = Rotation.from_rotvec([angle_rad, 0.0, 0.0]).as_matrix()
    return world[None]

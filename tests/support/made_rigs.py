"""Rigs and skins made of simple solids, whose volumes and inertias are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import trimesh
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from akd_sdk.bodies.rest_skin import RestSkin
from akd_sdk.rig import Material, Rig, Skeleton, Skin, Source, Transforms

Array = NDArray[np.float64]

FACING = np.eye(3)
MIDDLE = np.zeros(3)


def solid(mesh: trimesh.Trimesh) -> RestSkin:
    """A mesh moved by one joint."""
    return parts([mesh])


def parts(meshes: Sequence[trimesh.Trimesh]) -> RestSkin:
    """Several meshes, each moved by a joint of its own."""
    sizes = [len(mesh.vertices) for mesh in meshes]
    starts = np.cumsum([0, *sizes])
    joints = np.repeat(np.arange(len(meshes)), sizes)
    return RestSkin(
        points=np.concatenate([np.asarray(mesh.vertices, dtype=np.float64) for mesh in meshes]),
        triangles=np.concatenate([np.asarray(mesh.faces, dtype=np.int64) + start for mesh, start in zip(meshes, starts)]),
        weights=csr_matrix((np.ones(len(joints)), (np.arange(len(joints)), joints)), shape=(len(joints), len(meshes))),
    )


def box(extents: Sequence[float], centre: Sequence[float] = (0.0, 0.0, 0.0)) -> trimesh.Trimesh:
    made = trimesh.creation.box(extents=extents)
    made.apply_translation(centre)
    return made


def worm(joints: int, *, zero_length: bool = False, mesh: trimesh.Trimesh | None = None) -> Rig:
    """A worm of 1 m along z, 6 cm thick, on a chain of joints that begins with its pelvis; `zero_length` leaves every second bone none."""
    along = np.linspace(-0.5, 0.5, joints, endpoint=False)
    if zero_length:
        along[1::2] = along[: 2 * (joints // 2) : 2]
    rest = np.zeros((joints, 3))
    rest[:, 2] = along
    rest[1:] -= np.stack([np.zeros(joints - 1), np.zeros(joints - 1), along[:-1]], axis=1)
    transforms = Transforms(rest, np.tile((0.0, 0.0, 0.0, 1.0), (joints, 1)), np.ones((joints, 3)))
    names = [f"joint{i}" for i in range(joints)]
    skeleton = replace(Skeleton.bare(names, names, np.arange(joints), np.arange(joints) - 1, transforms), pelvis=0)
    if mesh is None:
        mesh = trimesh.creation.cylinder(radius=0.03, height=1.0, sections=24)
        mesh = mesh.subdivide_to_size(0.02)
    vertices = np.asarray(mesh.vertices, dtype=np.float64)
    binds = np.tile(np.eye(4), (joints, 1, 1))
    binds[:, 2, 3] = -along
    owners = np.clip(np.searchsorted(along, vertices[:, 2], side="right") - 1, 0, joints - 1)
    skin = Skin(
        name="worm",
        node=0,
        vertices=vertices,
        normals=None,
        uvs=None,
        triangles=np.asarray(mesh.faces, dtype=np.int64),
        joints=owners[:, None],
        weights=np.ones((len(vertices), 1)),
        inverse_binds=binds,
        material=Material("", np.ones(4)),
    )
    source = Source(Path("worm.glb"), "glb", 1.0, np.eye(3), np.zeros(3), np.ones(joints))
    height = float(np.ptp(vertices[:, 1]))
    return Rig("worm", skeleton, (skin,), (), source, "unknown", height, np.array([0.0, 0.0, 1.0]), (), 0.0, 1.7)

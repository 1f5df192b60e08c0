"""Rig: a character as read from a file: skeleton, skins, clips, and how the file's space maps to ours."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from akd_sdk.motion import Motion
from akd_sdk.rig.skeleton import ContactPoint, Skeleton

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Material:
    """What a picture needs of a material, and where the rest of it is.

    Attributes:
        name: its name.
        colour: (4,) linear RGBA factor.
        texture: (h, w, 4) sRGB bytes or None.
        index: its place among the materials of the source's document; None: it has none.
    """

    name: str
    colour: Array
    texture: NDArray[np.uint8] | None = None
    index: int | None = None


@dataclass(frozen=True)
class Skin:
    """One skinned primitive, in its bind space.

    Attributes:
        name: the mesh's name.
        node: the mesh node in the file.
        vertices: (n, 3) bind-space positions, the file's mesh unit.
        normals: (n, 3) unit, or None.
        uvs: (n, 2) or None.
        triangles: (m, 3) vertex indices.
        joints: (n, k) skeleton joints.
        weights: (n, k) sum to 1.
        inverse_binds: (skeleton joints, 4, 4); world vertex = sum of weight * world[joint] @ inverse_binds[joint] @ vertex, metres.
            Joints that the skin does not use have zeros.
        material: for pictures.
        colours: (n, 4) linear vertex colours or None.
        morphs: (targets, n, 3) position offsets or None.
        morph_normals: (targets, n, 3) what is added to the normals with them, or None.
    """

    name: str
    node: int
    vertices: Array
    normals: Array | None
    uvs: Array | None
    triangles: Ints
    joints: Ints
    weights: Array
    inverse_binds: Array
    material: Material
    colours: Array | None = None
    morphs: Array | None = None
    morph_normals: Array | None = None

    def at_rest(self, rest_world: Array) -> Array:
        """(n, 3) world positions of the vertices, metres, for joint transforms (joints, 4, 4)."""
        matrices = rest_world @ self.inverse_binds
        blended = np.einsum("nk,nkij->nij", self.weights, matrices[self.joints])
        return np.asarray(np.einsum("nij,nj->ni", blended[:, :3, :3], self.vertices) + blended[:, :3, 3])


@dataclass(frozen=True)
class Source:
    """Where a rig comes from, and the map of the file's space to ours.

    Ours = scale * rotation @ file + translation for world points. Inside, each joint's own unit is taken out:
    `units[j]` is the uniform world scale of joint j at rest in metres, so that an inner translation is units[parent] times
    the file's, and an inner scale the file's times units[parent] / units[j] (for a root, `scale` stands for units[parent]).
    """

    path: Path
    format: str
    scale: float
    rotation: Array
    translation: Array
    units: Array
    document: Any = None
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rig:
    """A character.

    Attributes:
        name: for messages and files.
        skeleton: joints and anatomy.
        skins: skinned primitives.
        clips: the file's own motions.
        source: file and similarity.
        body: "biped", "quadruped", "bird" or "unknown".
        height: metres, of the skin (of the joints without one) at rest.
        forward: (3,) horizontal unit vector, where the character faces.
        contact_points: heel and toe of each foot.
        leg_length: metres, the rest path from hip to sole, mean over hind legs; 0 where there are no legs.
        human_scale: what metres are multiplied by to be at human size (largest extent of anatomical joints 1.7 m).
        notes: what was guessed, with the reason; goes to the report.
    """

    name: str
    skeleton: Skeleton
    skins: tuple[Skin, ...]
    clips: tuple[Motion, ...]
    source: Source
    body: str
    height: float
    forward: Array
    contact_points: tuple[ContactPoint, ...]
    leg_length: float
    human_scale: float
    notes: tuple[str, ...] = field(default=())

    @property
    def facing(self) -> Array:
        """(3, 3) maps the character frame (facing +Z, left +X) to the world."""
        x, z = float(self.forward[0]), float(self.forward[2])
        return np.array([[z, 0.0, x], [0.0, 1.0, 0.0], [-x, 0.0, z]])

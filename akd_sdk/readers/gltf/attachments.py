"""Rigid parts of a glTF character: meshes without a skin that hang on its joints, such as helmets, or all of a robot."""

from __future__ import annotations

import numpy as np

from akd_sdk.formats.gltf.fields import optional_reference
from akd_sdk.readers.gltf.skins import skin_of
from akd_sdk.readers.gltf.surfaces import Reading, mesh_name, primitives_of, read_surface
from akd_sdk.rig import Skin


def read_attachments(reading: Reading) -> tuple[Skin, ...]:
    """One `Skin`, with all weight on one joint, a primitive of each node that has a mesh, no skin, and a joint above it or at it.

    Raises:
        ReadError: as for skins.
    """
    scene, skeleton, of_node = reading.scene, reading.joints.skeleton, reading.joints.of_node
    parts: list[Skin] = []
    for n, node in enumerate(scene.nodes):
        mesh = optional_reference(node, "mesh", len(reading.document.items("meshes")), scene.name(n))
        joint = next((of_node[above] for above in scene.line(n) if above in of_node), None)
        if mesh is None or "skin" in node or joint is None:
            continue
        binds = np.zeros((skeleton.count, 4, 4))
        binds[joint] = np.linalg.inv(skeleton.rest_world[joint]) @ scene.world[n]
        for primitive, where in primitives_of(reading, mesh):
            surface = read_surface(reading, primitive, where)
            if surface is not None:
                influences = np.full((len(surface.vertices), 1), joint), np.ones((len(surface.vertices), 1))
                parts.append(skin_of(surface, (mesh_name(reading, mesh), n), influences, binds))
    return tuple(parts)

"""A GLB with everything in it hung on another node: turned, raised, mirrored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pygltflib import GLTF2, Node


def turned_glb(path: Path, angle_rad: float, out: Path) -> Path:
    """Hang the scene's roots on a new node that is turned about the vertical by the angle."""
    half = 0.5 * angle_rad
    return hung_glb(path, out, rotation=[0.0, float(np.sin(half)), 0.0, float(np.cos(half))])


def hung_glb(path: Path, out: Path, **placed: list[float]) -> Path:
    """Hang the scene's roots on a new node with a translation, rotation or scale."""
    gltf = GLTF2().load_binary(str(path))
    scene = gltf.scenes[gltf.scene or 0]
    gltf.nodes.append(Node(name="turntable", children=list(scene.nodes), **placed))
    scene.nodes = [len(gltf.nodes) - 1]
    gltf.save_binary(str(out))
    return out

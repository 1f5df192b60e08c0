"""A GLB with everything in it turned about the vertical."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pygltflib import GLTF2, Node


def turned_glb(path: Path, angle_rad: float, out: Path) -> Path:
    """Hang the scene's roots on a new node that is turned by the angle."""
    gltf = GLTF2().load_binary(str(path))
    scene = gltf.scenes[gltf.scene or 0]
    half = 0.5 * angle_rad
    gltf.nodes.append(Node(name="turntable", children=list(scene.nodes), rotation=[0.0, float(np.sin(half)), 0.0, float(np.cos(half))]))
    scene.nodes = [len(gltf.nodes) - 1]
    gltf.save_binary(str(out))
    return out

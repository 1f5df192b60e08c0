"""glTF sources with what USD has to keep: morph targets, and materials with pictures."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from gltf_build import Post, turn
from PIL import Image

from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig

FRAMES, FPS = 25, 24.0
REST = [0.25, 0.0, 0.5]
NAMES = ["smile wide", "blink", "empty"]


def waves() -> np.ndarray:
    t = np.arange(FRAMES)[:, None] / FPS
    return np.asarray(0.5 + 0.5 * np.sin(np.array([2.0, 5.0, 1.0]) * t))


def morphing(folder: Path, *, bodies: int = 1, moved: bool = True, normals: bool = False) -> Path:
    """A post, below an armature 100 times as large, whose mesh nodes have three targets; a clip turns a joint and moves the weights.

    normals: the mesh has some, and the first target adds to them.
    """
    post = Post(build=False)
    armature = post.node(name="armature", scale=[100.0, 100.0, 100.0])
    post.chain(armature)
    for joint in post.joints:
        post.json["nodes"][joint]["translation"] = [part / 100.0 for part in post.json["nodes"][joint]["translation"]]
    binds = np.tile(np.diag([0.01, 0.01, 0.01, 1.0]), (3, 1, 1))
    binds[:, 1, 3] = (0.0, -0.006, -0.012)
    post.dress(binds)
    rng = np.random.default_rng(5)
    offsets = rng.normal(0.0, 0.1, (3, *post.positions.shape))
    offsets[1, :16] = 0.0  # moves the head alone
    offsets[2] = 0.0
    mesh = post.json["meshes"][0]
    mesh["primitives"][0]["targets"] = [{"POSITION": post.accessor(part)} for part in offsets]
    if normals:
        upright = rng.normal(size=post.positions.shape)
        mesh["primitives"][0]["attributes"]["NORMAL"] = post.accessor(upright / np.linalg.norm(upright, axis=1, keepdims=True))
        mesh["primitives"][0]["targets"][0]["NORMAL"] = post.accessor(rng.normal(0.0, 0.2, post.positions.shape))
    mesh |= {"weights": REST, "extras": {"targetNames": NAMES}}
    nodes = [post.body, *(post.node(name=f"body {i}", mesh=0, skin=0, weights=[0.0, 1.0, 0.0]) for i in range(1, bodies))]
    times = np.arange(FRAMES) / FPS
    channels = [(post.joints[1], "rotation", times, [turn("x", 60.0 * t) for t in times], "LINEAR")]
    if moved:
        channels.append((nodes[0], "weights", times, waves(), "LINEAR"))
    post.animation(channels, name="nod")
    return post.save(folder / "post.glb")


def encoded(kind: str, seed: int, size: tuple[int, int] = (9, 6)) -> bytes:
    """A picture with alpha where its format has it."""
    pixels = np.random.default_rng(seed).integers(0, 256, (*size, 4), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels if kind != "JPEG" else pixels[..., :3]).save(out, kind)
    return out.getvalue()


def dressed(folder: Path, material: dict[str, Any] | None, pictures: list[bytes] | None = None, **more: Any) -> Rig:
    """A post with this material; texture i is picture i, sampled as `sampler` says."""
    post = Post(build=False)
    post.chain()
    columns = np.tile(np.eye(4), (3, 1, 1))
    columns[:, 1, 3] = (0.0, -0.6, -1.2)
    skin = post.add("skins", {"joints": post.joints, "inverseBindMatrices": post.accessor(columns.transpose(0, 2, 1).reshape(3, 16))})
    uvs = np.random.default_rng(1).uniform(size=(24, 2))
    attributes = {"TEXCOORD_0": post.accessor(uvs)} if more.get("placed", True) else {}
    if "colours" in more:
        attributes["COLOR_0"] = post.accessor(more["colours"])
    primitive = post.primitive(**attributes)
    for data in pictures or []:
        mime = "image/png" if data.startswith(b"\x89PNG") else "image/jpeg" if data.startswith(b"\xff") else "image/webp"
        image = post.add("images", {"bufferView": post.view(data), "mimeType": mime})
        webp = {"extensions": {"EXT_texture_webp": {"source": image}}} if mime == "image/webp" else {"source": image}
        post.add("textures", webp | ({"sampler": 0} if "sampler" in more else {}))
    if "sampler" in more:
        post.add("samplers", more["sampler"])
    if material is not None:
        primitive["material"] = post.add("materials", material)
    mesh = post.add("meshes", {"name": "post", "primitives": [primitive]})
    post.node(name="body", mesh=mesh, skin=skin)
    return open_rig(post.save(folder / "post.glb"))

"""A document without what is seen: nodes, rest and skins stay, meshes, materials, textures, cameras and animations go."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Final

import numpy as np

from akd_sdk.formats.gltf.accessors import floats
from akd_sdk.formats.gltf.container import Document
from akd_sdk.formats.gltf.fields import Json
from akd_sdk.formats.gltf.write import with_matrices

KEPT: Final = ("name", "translation", "rotation", "scale", "matrix", "extras")
"""What a node keeps, beside its children."""


def skeleton_only(document: Document, nodes: Sequence[int]) -> tuple[Document, dict[int, int]]:
    """The document with these nodes alone, in their order, and where each is in it.

    nodes: with each node all above it. Skins whose joints are among them stay, with their bind poses in plain float32, whatever
    compressed or quantised them; the others go.
    """
    place = {int(node): i for i, node in enumerate(nodes)}
    old = document.json
    content: Json = {key: copy.deepcopy(old[key]) for key in ("asset", "scene", "extras") if key in old}
    content["nodes"] = [_node(old["nodes"][node], place) for node in place]
    content["scenes"] = [{**scene, "nodes": [place[n] for n in scene.get("nodes", []) if n in place]} for scene in old.get("scenes", [])]
    for scene in content["scenes"]:
        scene.pop("extensions", None)
        if not scene["nodes"]:
            del scene["nodes"]
    skins, binds = [], []
    for skin in document.items("skins"):
        if not set(skin["joints"]) <= place.keys():
            continue
        made: Json = {key: copy.deepcopy(skin[key]) for key in ("name", "extras") if key in skin}
        made["joints"] = [place[joint] for joint in skin["joints"]]
        if skin.get("skeleton") in place:
            made["skeleton"] = place[skin["skeleton"]]
        accessor = skin.get("inverseBindMatrices")
        count = len(made["joints"])
        binds.append(
            np.tile(np.eye(4), (count, 1, 1)) if accessor is None else floats(document, accessor, ("MAT4",), "inverse binds")[:count]
        )
        skins.append(made)
    bare = Document(document.path, content, (), True)
    bare, accessors = with_matrices(bare, content, binds)
    for skin, accessor in zip(skins, accessors, strict=True):
        skin["inverseBindMatrices"] = accessor
    content["skins"] = skins
    return bare, place


def _node(node: Json, place: dict[int, int]) -> Json:
    made = {key: copy.deepcopy(value) for key, value in node.items() if key in KEPT}
    children = [place[child] for child in node.get("children", []) if child in place]
    return {**made, "children": children} if children else made

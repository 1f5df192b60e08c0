"""Skeletons and skins of a glTF file for the engine of a profile: roots, joints, scales, influences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from akd_sdk.errors import BackendError
from akd_sdk.exporters.check.codes import found
from akd_sdk.exporters.check.findings import Finding, some
from akd_sdk.exporters.check.gltf_source import GltfSource
from akd_sdk.formats.gltf import Document, floats
from akd_sdk.formats.gltf.fields import Json, child, objects, optional_reference
from akd_sdk.schemas.profile import Profile

SCALED: Final = 1e-3
"""How far a scale is from 1 to be one."""


def skin_findings(source: GltfSource, profile: Profile) -> Iterable[Finding]:
    """What the profile's engine does not take of skeletons and skins."""
    scaled: dict[str, float] = {}
    for index, joints in enumerate(source.skins):
        where, known = f"skin {index}", set(joints)
        tops = [joint for joint in joints if known.isdisjoint(source.scene.line(joint)[1:])]
        if profile.single_root and len(tops) > 1:
            yield found("root-several", where, f"{len(tops)} root joints: {some([source.name(j) or f'node {j}' for j in tops])}")
        if profile.bones is not None and len(joints) > profile.bones:
            yield found("bone-count", where, f"{len(joints)} joints, {profile.title} takes {profile.bones}")
        if not profile.joint_scale:
            scaled |= _scaled(source, joints)
    if scaled:
        names = [f"{name} by {most:.4g}" for name, most in scaled.items()]
        yield found("joint-scale", "the file", some(names))
    most = _influences(source) if profile.influences is not None else 0
    if profile.influences is not None and most > profile.influences:
        yield found("influence-count", "the file", f"{most} joints move a vertex, {profile.title} takes {profile.influences}")


def _scaled(source: GltfSource, joints: Iterable[int]) -> dict[str, float]:
    """Joints with a scale at rest or in a clip, with the one farthest from 1."""
    keyed = {track.node: track.values for clip in source.clips for track in clip.tracks if track.path == "scale"}
    made = {}
    for joint in joints:
        scales = np.concatenate([source.scene.scales[joint], keyed[joint].reshape(-1) if joint in keyed else []])
        far = scales[np.argmax(np.abs(scales - 1.0))]
        if abs(far - 1.0) > SCALED:
            made[source.name(joint) or f"node {joint}"] = float(far)
    return made


def _influences(source: GltfSource) -> int:
    """The most joints that move a vertex of a skinned mesh, as far as weights can be read here."""
    document, most = source.document, 0
    meshes = document.items("meshes")
    for number, node in enumerate(source.scene.nodes):
        mesh = optional_reference(node, "mesh", len(meshes), f"node {number}")
        if mesh is not None and "skin" in node:
            for primitive in objects(meshes[mesh], "primitives", f"mesh {mesh}"):
                most = max(most, _most_weights(document, child(primitive, "attributes", f"mesh {mesh}"), f"mesh {mesh}"))
    return most


def _most_weights(document: Document, attributes: Json, where: str) -> int:
    """The most weights above 0 of a vertex."""
    accessors, sets = document.items("accessors"), []
    for key in attributes:
        index = optional_reference(attributes, key, len(accessors), where) if key.startswith("WEIGHTS_") else None
        if index is None:
            continue
        try:
            sets.append((floats(document, index, ("VEC4",), f"{key} of {where}", finite=False) > 0.0).sum(axis=1))
        except BackendError:
            continue
    vertices = min((len(weights) for weights in sets), default=0)
    return int(np.sum([weights[:vertices] for weights in sets], axis=0).max()) if vertices else 0

"""A glTF document put together to a `Rig`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from akd_sdk.errors import AkdError
from akd_sdk.formats.gltf.animation import Animation, read_animations
from akd_sdk.formats.gltf.container import Document, load
from akd_sdk.formats.gltf.scene import Scene, read_scene
from akd_sdk.readers.gltf.attachments import read_attachments
from akd_sdk.readers.gltf.clips import Clips, read_clips
from akd_sdk.readers.gltf.joints import Joints, find_joints
from akd_sdk.readers.gltf.materials import Materials
from akd_sdk.readers.gltf.skins import read_skins
from akd_sdk.readers.gltf.surfaces import Reading
from akd_sdk.readers.size import rest_height, scaled_skeleton, scaled_skin
from akd_sdk.rig import Rig, Skeleton, Skin, Source
from akd_sdk.rig.anatomy import complete
from akd_sdk.rig.scale import guess_height


@dataclass(frozen=True)
class _Parts:
    """A file taken apart, in its own unit."""

    document: Document
    scene: Scene
    joints: Joints
    skins: tuple[Skin, ...]
    attachments: tuple[Skin, ...]
    animations: tuple[Animation, ...]
    notes: tuple[str, ...]


def read_gltf(path: Path, *, height: float | None = None) -> Rig:
    """The character of a glTF file.

    Args:
        path: .glb, .gltf or .vrm.
        height: metres from sole to crown at rest; None: the file's own where plausible, else guessed.

    Raises:
        ReadError: broken, or needs an extension that is not read.
        RigError: no skin.
    """
    try:
        return _assembled(_parts(load(path)), height)
    except AkdError as fault:
        raise fault.at(path) from fault


def _parts(document: Document) -> _Parts:
    scene = read_scene(document)
    animations = read_animations(document)
    joints = find_joints(document, scene)
    reading = Reading(document, scene, joints, Materials(document))
    skins = read_skins(reading)
    attachments = read_attachments(reading)
    sheared = [scene.name(n) for n in scene.sheared if n in joints.of_node]
    for j in joints.flat:
        reading.note(f"joint {joints.skeleton.names[j]!r} is scaled to 0 at rest; a ten-thousandth stands for it")
    for name in sheared:
        reading.note(f"the matrix of {name} has shear, which is dropped")
    return _Parts(document, scene, joints, skins, attachments, animations, (*reading.notes, *reading.materials.notes))


def _assembled(parts: _Parts, asked: float | None) -> Rig:
    path, joints = parts.document.path, parts.joints
    bare = joints.skeleton
    body = complete(bare, parts.skins)
    shown = (*parts.skins, *(part for part in parts.attachments if _is_body(body.skeleton, part)))
    in_file = rest_height(bare, shown)
    names = (path.stem, *bare.names, *(skin.name for skin in parts.skins))
    height, said = guess_height(body.body, in_file, names) if asked is None else (asked, f"height {asked:g} m as asked")
    scale = height / in_file
    joints = joints.scaled(scale)
    skeleton = scaled_skeleton(body.skeleton, scale)
    skins = tuple(scaled_skin(skin, scale) for skin in shown)
    morphed = {skin.node: len(skin.morphs) for skin in skins if skin.morphs is not None}
    contact_names = tuple(f"{point.limb}_{point.kind}" for point in body.contact_points)
    clips = Clips(joints, skeleton, height, morphed, contact_names)
    motions = read_clips(clips, parts.animations)
    held = [parts.scene.name(n) for n in sorted({part.node for part in parts.attachments} - {skin.node for skin in shown})]
    unseen = [f"not shown: {', '.join(held)}, held by sockets or standing around"] if held else []
    repairs = (*parts.notes, *clips.notes, *unseen)
    return Rig(
        name=path.stem,
        skeleton=skeleton,
        skins=skins,
        clips=motions,
        source=Source(path, "gltf", scale, np.eye(3), np.zeros(3), joints.units, parts.document, repairs),
        body=body.body,
        height=height,
        forward=body.forward,
        contact_points=tuple(replace(point, offset=point.offset * scale) for point in body.contact_points),
        leg_length=body.leg_length * scale,
        human_scale=body.human_scale / scale,
        notes=(said, *body.notes),
    )


def _is_body(skeleton: Skeleton, part: Skin) -> bool:
    """Whether a rigid part belongs to the body: what sockets hold and what stands around does not."""
    return skeleton.roles[int(part.joints[0, 0])] in ("anatomy", "unknown")

"""A root bone for files that have none: a new joint above all that travels, in the rig and in its document alike."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError
from akd_sdk.exporters.clip import unique_name
from akd_sdk.exporters.root_modes import bones_of, root_joint, shared_above
from akd_sdk.formats.gltf.accessors import floats
from akd_sdk.formats.gltf.container import Document
from akd_sdk.formats.gltf.fields import Json, references
from akd_sdk.formats.gltf.write import taken_names, with_matrices
from akd_sdk.gait.ground import carried
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig, Skeleton, Skin, Transforms
from akd_sdk.rotations import IDENTITY

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

NAME: Final = "root"
_T = TypeVar("_T")


@dataclass(frozen=True)
class RootBone:
    """A rig whose travel a bone of its own can carry.

    Attributes:
        rig: with the bone.
        joint: the bone in it.
        added: whether the file had none, so that it is new.
    """

    rig: Rig
    joint: int
    added: bool

    @property
    def name(self) -> str:
        return self.rig.skeleton.names[self.joint]

    def motion(self, motion: Motion) -> Motion:
        """A motion of the rig as it was, for the rig with the bone: there it rests."""
        if not self.added:
            return motion
        at = self.joint
        changes = {
            "rotations": np.insert(motion.rotations, at, IDENTITY, axis=1),
            "translations": None if motion.translations is None else np.insert(motion.translations, at, 0.0, axis=1),
            "scales": None if motion.scales is None else np.insert(motion.scales, at, 1.0, axis=1),
            "held": frozenset((j + (j >= at), path) for j, path in motion.held),
        }
        return motion.with_(**changes)


def with_root_bone(rig: Rig) -> RootBone:
    """The rig with a root bone: its own where a skin has one above all that travels, else a new one, named "root" or the next free name.

    The new bone lies at the origin of the node above it (the armature; the world where there is none), so nothing below it changes
    place and clips of the file stay as they are. Skins list it last, bound where it lies at rest; no vertex follows it.
    Raises ExportError: no pelvis was found, or the rig was not read from glTF.
    """
    own = root_joint(rig)
    if own >= 0 and own in bones_of(rig):
        return RootBone(rig, own, added=False)
    if rig.skeleton.pelvis < 0:
        raise ExportError("the character has no pelvis above which a root bone could stand", rig.source.path, "--root-mode hips needs none")
    document = rig.source.document
    if not isinstance(document, Document):
        raise ExportError("a root bone can be added only to a character read from glTF", rig.source.path)
    above = next(iter(shared_above(rig.skeleton)), -1)
    tops = _line_tops(rig.skeleton, above)
    made, name = _with_node(rig, document, above, tops)
    return RootBone(_with_joint(rig, made, tops, above, name), min(tops), added=True)


def _line_tops(skeleton: Skeleton, above: int) -> list[int]:
    """The joints right below `above` (-1: the roots) under which something travels, in order."""
    tops = set()
    for joint in np.flatnonzero(carried(skeleton)):
        j = int(joint)
        while int(skeleton.parents[j]) != above:
            j = int(skeleton.parents[j])
        tops.add(j)
    return sorted(tops)


def _with_node(rig: Rig, document: Document, above: int, tops: list[int]) -> tuple[Document, str]:
    """The document with the node of the bone, last of all nodes, and its name."""
    content: Json = copy.deepcopy(document.json)
    nodes: list[Json] = content["nodes"]
    below = [int(rig.skeleton.nodes[j]) for j in tops]
    new = len(nodes)
    name = unique_name(NAME, taken_names(content, "nodes") | set(rig.skeleton.names))
    nodes.append({"name": name, "children": below})
    lists = (
        [(nodes[int(rig.skeleton.nodes[above])], "children")] if above >= 0 else [(scene, "nodes") for scene in content.get("scenes", [])]
    )
    for holder, key in lists:
        holder[key] = _replaced(holder.get(key, []), below, new)
    matrices: list[Array] = []
    skins = [s for s, skin in enumerate(document.items("skins")) if _below(nodes, new) & set(references(skin, "joints", new, "skin"))]
    for s in skins:
        matrices.append(_binds(rig, document, s, above))
    made, accessors = with_matrices(document, content, matrices)
    for s, accessor in zip(skins, accessors, strict=True):
        skin = content["skins"][s]
        skin["joints"].append(new)
        skin["inverseBindMatrices"] = accessor
        if set(skin["joints"]) <= _below(nodes, new):
            skin["skeleton"] = new
        elif skin.get("skeleton") in _below(nodes, new):
            del skin["skeleton"]
    return made, name


def _replaced(items: list[int], old: list[int], new: int) -> list[int]:
    """A list of nodes with `new` in the place of the first of `old`, the others of which are gone."""
    first = next((i for i, item in enumerate(items) if item in old), None)
    if first is None:
        return items
    return [*(i for i in items[:first] if i not in old), new, *(i for i in items[first:] if i not in old)]


def _below(nodes: list[Json], node: int) -> set[int]:
    """A node and all below it."""
    found, waiting = set(), [node]
    while waiting:
        found.add(waiting[-1])
        waiting += nodes[waiting.pop()].get("children", [])
    return found


def _binds(rig: Rig, document: Document, s: int, above: int) -> Array:
    """Inverse bind matrices (joints + 1, 4, 4) of a skin in the file's unit, the new bone's last."""
    skin = document.items("skins")[s]
    accessor = skin.get("inverseBindMatrices")
    joints = skin["joints"]
    own = (
        np.tile(np.eye(4), (len(joints), 1, 1))
        if accessor is None
        else floats(document, accessor, ("MAT4",), "inverse binds")[: len(joints)]
    )
    at = {int(node): j for j, node in enumerate(rig.skeleton.nodes)}
    pelvis = next((k for k, node in enumerate(joints) if at[node] == rig.skeleton.pelvis), 0)
    bound = _file_world(rig, at[joints[pelvis]]) @ own[pelvis]  # mesh to world, as the skin has it at rest
    here = _file_world(rig, above) if above >= 0 else np.eye(4)
    return np.concatenate([own, (np.linalg.inv(here) @ bound)[None]])


def _file_world(rig: Rig, joint: int) -> Array:
    """A joint's rest transform (4, 4) in the file's space and unit."""
    source = rig.source
    back = np.eye(4)
    back[:3, :3] = source.rotation.T / source.scale
    back[:3, 3] = -back[:3, :3] @ source.translation
    own = np.diag([*[source.units[joint]] * 3, 1.0])
    return np.asarray(back @ rig.skeleton.rest_world[joint] @ own)


def _with_joint(rig: Rig, document: Document, tops: list[int], above: int, name: str) -> Rig:
    """The rig of the document with the bone, before the first joint below it."""
    at, skeleton, source = min(tops), rig.skeleton, rig.source
    unit = float(source.units[above]) if above >= 0 else source.scale
    node = len(document.json["nodes"]) - 1
    skins = tuple(_bound(rig, document, skin, at, above, unit) for skin in rig.skins)
    made = replace(
        rig,
        skeleton=_extended(skeleton, at, tops, above, (name, node)),
        skins=skins,
        source=replace(source, units=np.insert(source.units, at, unit), document=document),
        contact_points=tuple(replace(point, joint=point.joint + (point.joint >= at)) for point in rig.contact_points),
        notes=(*rig.notes, f"root bone {name!r} added above {', '.join(skeleton.names[j] for j in tops)}"),
    )
    bone = RootBone(made, at, added=True)
    return replace(made, clips=tuple(bone.motion(clip) for clip in rig.clips))


def _bound(rig: Rig, document: Document, skin: Skin, at: int, above: int, unit: float) -> Skin:
    """A skin of the rig with the bone among its joints."""
    binds = np.insert(skin.inverse_binds, at, 0.0, axis=0)
    s = document.json["nodes"][skin.node].get("skin")
    if s is not None:
        binds[at] = np.diag([unit, unit, unit, 1.0]) @ _binds(rig, rig.source.document, s, above)[-1]
    return replace(skin, joints=skin.joints + (skin.joints >= at), inverse_binds=binds)


def _extended(skeleton: Skeleton, at: int, tops: list[int], above: int, named: tuple[str, int]) -> Skeleton:
    """The skeleton with one more joint at index `at`, at rest where its parent is."""

    def moved(joints: Ints) -> Ints:
        return np.asarray(joints + (joints >= at), dtype=np.int64)

    parents = moved(skeleton.parents)
    parents[tops] = at
    rest = skeleton.rest
    return replace(
        skeleton,
        names=_inserted(skeleton.names, at, named[0]),
        source_names=_inserted(skeleton.source_names, at, named[0]),
        nodes=np.insert(skeleton.nodes, at, named[1]),
        parents=np.insert(parents, at, above),
        rest=Transforms(
            np.insert(rest.translations, at, 0.0, axis=0),
            np.insert(rest.rotations, at, IDENTITY, axis=0),
            np.insert(rest.scales, at, 1.0, axis=0),
        ),
        solve_parents=np.insert(moved(skeleton.solve_parents), at, -1),
        frames=np.insert(skeleton.frames, at, IDENTITY, axis=0),
        limits=np.insert(skeleton.limits, at, np.array([-np.pi, np.pi]), axis=0),
        groups=_inserted(skeleton.groups, at, "none"),
        sides=np.insert(skeleton.sides, at, 0),
        chains=tuple(replace(chain, joints=tuple(j + (j >= at) for j in chain.joints)) for chain in skeleton.chains),
        roles=_inserted(skeleton.roles, at, "ancestor"),
        pelvis=skeleton.pelvis + (skeleton.pelvis >= at),
        tips=tuple(replace(tip, joint=tip.joint + (tip.joint >= at)) for tip in skeleton.tips),
    )


def _inserted(items: tuple[_T, ...], at: int, item: _T) -> tuple[_T, ...]:
    return (*items[:at], item, *items[at:])

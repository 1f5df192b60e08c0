"""A rig put into the words of `akd inspect`."""

from __future__ import annotations

from typing import Final

from akd_sdk.motion import Motion
from akd_sdk.rig import Chain, Rig, Skeleton
from akd_sdk.schemas import ChainSummary, CharacterSummary, ClipSummary, JointSummary

SIDES: Final = ("middle", "left", "right")


def summarise(rig: Rig) -> CharacterSummary:
    """The character as the program sees it."""
    skeleton = rig.skeleton
    x, y, z = (float(value) for value in rig.forward)
    return CharacterSummary(
        path=str(rig.source.path),
        name=rig.name,
        format=rig.source.format,
        body=rig.body,
        height_m=float(rig.height),
        metres_per_unit=float(rig.source.scale),
        forward=(x, y, z),
        leg_length_m=float(rig.leg_length),
        pelvis=_name(skeleton, skeleton.pelvis),
        vertices=sum(len(skin.vertices) for skin in rig.skins),
        triangles=sum(len(skin.triangles) for skin in rig.skins),
        joints=tuple(_joint(skeleton, j) for j in range(skeleton.count)),
        chains=tuple(_chain(skeleton, chain) for chain in skeleton.chains),
        contact_points=tuple(f"{point.limb} {point.kind}: {skeleton.names[point.joint]}" for point in rig.contact_points),
        clips=tuple(_clip(clip) for clip in rig.clips),
        notes=rig.notes,
        repairs=rig.source.repairs,
    )


def _name(skeleton: Skeleton, joint: int) -> str | None:
    return None if joint < 0 else skeleton.names[joint]


def _joint(skeleton: Skeleton, j: int) -> JointSummary:
    return JointSummary(
        name=skeleton.names[j],
        source_name=skeleton.source_names[j],
        parent=_name(skeleton, int(skeleton.parents[j])),
        solve_parent=_name(skeleton, int(skeleton.solve_parents[j])),
        group=skeleton.groups[j],
        side=SIDES[int(skeleton.sides[j])],
        role=skeleton.roles[j],
    )


def _chain(skeleton: Skeleton, chain: Chain) -> ChainSummary:
    return ChainSummary(
        kind=chain.kind,
        side=SIDES[chain.side],
        joints=tuple(skeleton.names[j] for j in chain.joints),
        tip=None if chain.tip < 0 else skeleton.tips[chain.tip].kind,
    )


def _clip(clip: Motion) -> ClipSummary:
    return ClipSummary(name=clip.name, frames=clip.frames, fps=float(clip.fps), seconds=clip.duration, loop=clip.loop)

"""Options that all exporters take; each refuses what its format cannot do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Final, Literal, Protocol

from akd_sdk.errors import ExportError
from akd_sdk.exporters.bvh_dialects import dialect_named
from akd_sdk.exporters.clip import Clip
from akd_sdk.rig import Rig
from akd_sdk.schemas.profile import Profile

Reduction = Literal["none", "fast", "best"]
Compression = Literal["none", "meshopt"]
COMPRESSIONS: Final = ("none", "meshopt")
REDUCTIONS: Final = ("none", "fast", "best")


@dataclass(frozen=True)
class ExportOptions:
    """How clips are written.

    Attributes:
        profile: the engine that the file is for; None: none in particular.
        clip_only: the motion without the character: joints and keys, no mesh.
        all_joints: joints that a clip does not move get a track at rest, too.
        add_root: the file gets a root bone where it has none. That is done before clips are made (`deliver`), so exporters refuse it.
        fps: frames a second of formats that hold frames; None: the clip's own.
        t_pose: the file's zero pose is a T pose.
        reduction: how hard keys are saved before they are written: "none" (a key at every frame), "fast" or "best".
        tolerance_m: how far reduced keys may stray, metres at human size; None: the profile's, else 1 mm.
        feet_tolerance_m: how far planted feet may; None: the profile's, else 0.2 mm.
        compression: of reduced keys in a GLB: "none", or "meshopt" for engines that read EXT_meshopt_compression. That is done before
            clips reach a format (`deliver`), so exporters refuse it.
        dialect: of a BVH: "biovision", "blender", "motionbuilder" or "cgspeed"; None: the profile's, else "biovision".
    """

    profile: Profile | None = None
    clip_only: bool = False
    all_joints: bool = False
    add_root: bool = False
    fps: float | None = None
    t_pose: bool = False
    reduction: Reduction = "none"
    tolerance_m: float | None = None
    feet_tolerance_m: float | None = None
    compression: Compression = "none"
    dialect: str | None = None

    def __post_init__(self) -> None:
        if self.reduction not in REDUCTIONS:
            raise ExportError(f"unknown reduction {self.reduction!r}", "--reduction", f"known: {', '.join(REDUCTIONS)}")
        if self.compression not in COMPRESSIONS:
            raise ExportError(f"unknown compression {self.compression!r}", "--compression", f"known: {', '.join(COMPRESSIONS)}")
        if self.compression != "none" and self.reduction == "none":
            raise ExportError("only reduced keys are compressed", "--compression", "add --reduction fast or best")
        if self.dialect is not None:
            dialect_named(self.dialect)
        for name in ("fps", "tolerance_m", "feet_tolerance_m"):
            value = getattr(self, name)
            if value is not None and not 0.0 < value < float("inf"):
                option = f"--{name.removesuffix('_m').replace('_', '-')}"
                raise ExportError(f"{value:g} is no positive number", option, "give one above 0")

    def only(self, path: str | PathLike[str], *supported: str) -> None:
        """ExportError that names the first option asked for that is not among those a format supports.

        What is done before clips reach a format (the profile's choices, reduction and its tolerances) is never refused here.
        """
        for option in fields(self):
            if option.name in _BEFORE or option.name in supported or getattr(self, option.name) == option.default:
                continue
            what = Path(f"a{path}" if str(path).startswith(".") else path).suffix or "this format"
            before = option.name == "add_root" or (option.name == "compression" and what == ".glb")
            hint = "deliver does it before clips are written" if before else "leave it out"
            raise ExportError(f"--{option.name.replace('_', '-')} cannot be done for {what}", path, hint)


_BEFORE: Final = ("profile", "reduction", "tolerance_m", "feet_tolerance_m")

PLAIN: Final = ExportOptions()
"""Nothing asked for."""


class Exporter(Protocol):
    """Writes clips of a rig to a file, whole or not at all, and gives its path back; raises only ExportError for bad input.

    What `options` ask for and the format cannot do is refused (`ExportOptions.only`), never left out.
    """

    def __call__(
        self, rig: Rig, clips: Sequence[Clip], path: str | PathLike[str], *, force: bool = False, options: ExportOptions = PLAIN
    ) -> Path: ...

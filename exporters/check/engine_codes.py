"""Faults for the engine of a profile."""

from __future__ import annotations

from typing import Final

from akd_sdk.exporters.check.findings import Row

ANY: Final[tuple[Row, ...]] = (
    (
        "format-unread",
        "error",
        "the engine takes no such file",
        "It does not open.",
        "export in a format that the profile lists",
    ),
)

ENGINES: Final[tuple[Row, ...]] = (
    (
        "name-collides",
        "error",
        "names are the same after the engine's filter, or nothing is left of one",
        "The engine renames one, or moves the wrong joint.",
        "rename one; export with this profile does so",
    ),
    (
        "name-collides-older",
        "note",
        "names are the same after the filter of an older version of the engine",
        "There the engine renames one, or moves the wrong joint.",
        "rename one if the file is for that version too",
    ),
    (
        "loop-name",
        "warning",
        "the clip's name and its loop mark tell the engine different things",
        "The engine loops a clip by its name.",
        "rename the clip; export with this profile does so",
    ),
    (
        "root-several",
        "error",
        "the skin has several root joints where the engine wants one",
        "The import fails or keeps one of them, and root motion has nothing to sit on.",
        "add a root bone above them (--add-root on export)",
    ),
    (
        "bone-count",
        "warning",
        "the skin has more joints than the engine takes",
        "Vertices of the joints beyond hang on wrong ones.",
        "split the mesh, or leave out joints without weights",
    ),
    (
        "influence-count",
        "warning",
        "vertices hang on more joints than the engine takes",
        "It drops the others' weights: the skin dents where they mattered.",
        "limit the weights a vertex in the modelling tool and normalise them",
    ),
    (
        "extension-unread",
        "error",
        "the file requires an extension that the engine does not read",
        "It does not open.",
        "undo the compression or quantisation for this engine",
    ),
    (
        "articulation-missing",
        "error",
        "the file holds not exactly one articulation, which the engine simulates",
        "The engine ignores UsdSkel: nothing stands there, or the bodies fall apart.",
        "export with this profile: bodies and joints below one articulation root",
    ),
    (
        "key-interpolation",
        "error",
        "the engine does not play these keys as they are meant",
        "Tangents of CUBICSPLINE keys are dropped or misread, steps move to another frame.",
        "sample the track to LINEAR keys on frames",
    ),
    (
        "key-16-bit",
        "warning",
        "rotations are stored in integers, which the engine does not normalise",
        "Off by hundredths of a millimetre to centimetres.",
        "store rotations as float32",
    ),
    (
        "key-off-grid",
        "warning",
        "key times lie on no frame of any import rate",
        "The engine bakes every track at its import rate: corners between frames are lost, centimetres in a fast clip.",
        "sample the clip at a whole number of frames a second",
    ),
    (
        "import-rate",
        "note",
        "the engine's own import rate is another than the clips'",
        "It bakes every track at that rate: fast clips stray by centimetres.",
        "set the rate in the import settings",
    ),
    (
        "joint-scale",
        "warning",
        "joints are scaled where the engine's skeletons have no scale",
        "Avatars drop the scale: limbs change their length, children shear.",
        "apply scales in the modelling tool; move joints instead of scaling them",
    ),
    (
        "humanoid-bones",
        "warning",
        "a humanoid lacks bones by the names that the engine's avatar wants",
        "The avatar is not made, and humanoid clips cannot be used.",
        "rename the joints, or map them by hand in the engine",
    ),
    (
        "sign-dropped",
        "warning",
        "a filter that drops signs of rotations, for an engine that needs them continuous",
        "Components are interpolated from one sign to the other: the long way round.",
        "compress rotations without the QUATERNION filter",
    ),
)

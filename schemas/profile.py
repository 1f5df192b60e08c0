"""Profile: what an engine makes of a file, as data that exporters and the checker follow."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from akd_sdk.schemas.base import Schema


class Naming(Schema):
    """What becomes of names in the engine.

    Attributes:
        replace: characters that the engine changes, each with what it puts in their place (nothing: it drops them).
        longest: bytes of a name that it keeps; None: all.
        unique: where two names must differ after that: in the whole file, among children of one parent (bound by path), or nowhere.
        loop_token: what the name of a looped clip ends with, so that the engine loops it; empty where names say nothing.
        loop_words: words that make the engine loop any clip whose name begins or ends with one of them, whatever its case.
        case: "snake" where the engine writes names in small letters, their words and numbers parted by underlines.
    """

    replace: dict[str, str] = Field(default_factory=dict)
    longest: int | None = Field(default=None, gt=0)
    unique: Literal["file", "path", "none"] = "none"
    loop_token: str = ""
    loop_words: tuple[str, ...] = ()
    case: Literal["keep", "snake"] = "keep"


class Profile(Schema):
    """An engine, and how files for it are written.

    Attributes:
        name: how it is chosen.
        title: the engine, with the version that the facts are of.
        suffixes: of files that it takes, the best first.
        up: the axis that points up in the engine's scene; its importer turns the file.
        handedness: of the engine's scene.
        metres_per_unit: of the engine's scene.
        facing: where a character that faces +Z in the file looks in the engine's scene.
        root_mode: where the travel goes unless somebody says otherwise.
        single_root: the engine wants one root joint above all others.
        naming: what becomes of names.
        older_naming: what became of them in older versions of the engine, by version.
        influences: joints a vertex that it takes; None: any number.
        articulation: USD files hold the character as bodies and joints that are simulated, and clips lie beside them as trajectories.
        bones: of a skin that it takes; None: any number.
        joint_scale: whether its skeletons keep scales of joints.
        humanoid: bones that its avatar of a human needs, each with the names by which it is found, without regard to case, punctuation
            and what stands before a colon; empty where it has no such avatar, or maps bones otherwise.
        short_way: it goes from one key of a rotation to the next the short way, whatever their signs.
        interpolation: kinds of keys that it plays as they are meant, the best first.
        players: how it goes from key to key of a rotation; a bound on errors has to hold for each.
        int16: rotations in normalised 16-bit integers are played right.
        meshopt: EXT_meshopt_compression is read.
        unread: extensions of glTF that the engine does not read: a file that requires one does not open.
        dialect: of BVH files for it; None: the format's own.
        import_fps: the engine bakes every track at this rate unless told otherwise at import, so keys lie on a grid of frames and the
            rate to set is said; None: keys are kept.
        tolerance_m: of reduced keys, metres at human size.
        feet_tolerance_m: of planted feet.
        notes: what a user has to do or know, one line each.
        sources: where each value comes from, by field.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str
    suffixes: tuple[str, ...] = Field(min_length=1)
    up: Literal["Y", "Z"] = "Y"
    handedness: Literal["right", "left"] = "right"
    metres_per_unit: float = Field(default=1.0, gt=0.0)
    facing: Literal["+X", "-X", "+Y", "-Y", "+Z", "-Z"] = "+Z"
    root_mode: Literal["hips", "root", "in_place"] = "hips"
    single_root: bool = False
    naming: Naming = Naming()
    older_naming: dict[str, Naming] = Field(default_factory=dict)
    influences: int | None = Field(default=None, gt=0)
    articulation: bool = False
    bones: int | None = Field(default=None, gt=0)
    joint_scale: bool = True
    humanoid: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    short_way: bool = True
    interpolation: tuple[Literal["LINEAR", "STEP", "CUBICSPLINE"], ...] = ("LINEAR", "STEP")
    players: tuple[Literal["slerp", "nlerp"], ...] = Field(default=("slerp",), min_length=1)
    int16: bool = False
    meshopt: bool = False
    unread: tuple[str, ...] = ()
    dialect: Literal["biovision", "blender", "motionbuilder", "cgspeed"] | None = None
    import_fps: float | None = Field(default=None, gt=0.0)
    tolerance_m: float = Field(default=1e-3, gt=0.0)
    feet_tolerance_m: float | None = Field(default=2e-4, gt=0.0)
    notes: tuple[str, ...] = ()
    sources: dict[str, str]

    @model_validator(mode="after")
    def _sources_name_fields(self) -> Profile:
        """A source of a field that does not exist is a slip of the pen."""
        unknown = set(self.sources) - set(type(self).model_fields)
        if unknown:
            raise ValueError(f"sources of unknown fields: {', '.join(sorted(unknown))}")
        return self

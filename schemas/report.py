"""Report: what was asked, understood, guessed, made and measured in one run; `report.json` beside the outputs."""

from __future__ import annotations

from typing import Literal

from akd_sdk.schemas.base import Schema
from akd_sdk.schemas.exports import ExportedFile
from akd_sdk.schemas.metrics import Metrics
from akd_sdk.schemas.tracking import Tracking


class SourceFile(Schema):
    """The character's file.

    Attributes:
        path: as given.
        bytes: its size.
        sha256: of its content, hexadecimal.
    """

    path: str
    bytes: int
    sha256: str


class Character(Schema):
    """The character as the program sees it.

    Attributes:
        name: of the file.
        body: kind of body.
        height_m: at rest, metres.
        joints: number of joints of the file's tree.
        forward: where it faces, a unit vector.
    """

    name: str
    body: Literal["biped", "quadruped", "bird", "unknown"]
    height_m: float
    joints: int
    forward: tuple[float, float, float]


class AnimateOptions(Schema):
    """What was asked for beside the sentence; names and units as in `Animator`.

    Attributes:
        prior: name of the prior.
        seconds: length asked for.
        loop: whether the clip has to repeat without a seam.
        fps: frames a second.
        height_m: height given for the character, None: the file's own or guessed.
        physics: whether the motion was to be tracked in a simulation.
        effort: of the tracking, "default" or "best".
        friction: of the ground, where it is tracked.
    """

    prior: str
    seconds: float
    loop: bool
    fps: float
    height_m: float | None = None
    physics: bool = False
    effort: Literal["default", "best"] = "default"
    friction: float = 0.8


class Understanding(Schema):
    """The sentence as the prior understood it.

    Attributes:
        sentence: as given.
        body: kind of body that it was read for.
        action: what to do, a canonical word.
        styles: how, canonical words.
        unknown: words that mean nothing to the prior.
        notes: remarks, one line each.
        guidance: weight of the sentence, 1 is none.
    """

    sentence: str
    body: str
    action: str
    styles: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    guidance: float


class Filming(Schema):
    """How the character was filmed for a prior that looks at pixels.

    Attributes:
        frames: of a video.
        fps: frames a second of a video.
        width, height: pixels.
        look: "surface", the skin, or "bones".
        gaussians: how many cover the skin, where that is what is seen.
        ground: whether there was a checkerboard.
        stages: parts of the run, each with `size`, a share of the picture, `tile`, heights of the character, and `effort`, what that
            weight was multiplied by.
        unlock: share of the steps after which all functions of the curves were free.
        elevation_deg: range of camera elevations.
        device: where videos and latents were.
        notes: memory and how it was used, one line each.
    """

    frames: int
    fps: float
    width: int
    height: int
    look: str
    gaussians: int
    ground: bool
    stages: tuple[dict[str, float], ...]
    unlock: float
    elevation_deg: tuple[float, float]
    device: str
    notes: tuple[str, ...] = ()


class Distillation(Schema):
    """How the prior's belief became joint curves.

    Attributes:
        observes: what the prior looked at, "tracks" or "pixels".
        mode: "mas", "annealed" or "random-t".
        steps: noise levels or times.
        inner: optimiser steps a level.
        views: cameras a step.
        guidance: weight of the sentence, 1 is none.
        rate: learning rate, which fell to `rate_decay` of it over the second half of the steps.
        bandwidth_hz: highest frequency of the curves.
        t_range: highest and lowest time.
        weights: of the losses beside the belief, by name.
        filming: on pixels only.
    """

    observes: Literal["tracks", "pixels"]
    mode: str
    steps: int
    inner: int
    views: int
    guidance: float
    rate: float
    rate_decay: float
    bandwidth_hz: float
    t_range: tuple[float, float]
    weights: dict[str, float]
    filming: Filming | None = None


class ClipFacts(Schema):
    """The clip that was made.

    Attributes:
        name: in the files.
        frames: number of frames.
        fps: frames a second.
        seconds: from the first frame to the last; a loop holds whole strides, so it may differ from what was asked.
        loop: whether it repeats without a seam.
        travel_m: distance over the ground from the first frame to the last, metres.
    """

    name: str
    frames: int
    fps: float
    seconds: float
    loop: bool
    travel_m: float = 0.0


class OutputFile(Schema):
    """A file that was written: `path` and size in `bytes`."""

    path: str
    bytes: int


class Report(Schema):
    """Everything worth knowing of one animation, or of one clip of a file that was tracked.

    Attributes:
        source: the character's file.
        character: as the program sees it.
        options: what was asked for beside the sentence; None where a clip of a file was tracked.
        prompt: the sentence as understood; None where there was none.
        seed: of the only random generator.
        warnings: what matters to the result, one line each.
        guessed: what was guessed of the character, with the reason.
        repaired: what was mended in the file.
        clip: what was made.
        distillation: how; None where nothing was distilled.
        before: metrics of the motion as distilled.
        after: metrics with feet locked, before any tracking.
        physics: how the motion was tracked, with metrics of its own; None where nobody asked for it.
        versions: of akd-sdk, Python and the libraries that shape the result.
        files: what was written.
        exports: what is in those of them that hold clips.
        seconds: wall time by stage.
    """

    source: SourceFile
    character: Character
    options: AnimateOptions | None = None
    prompt: Understanding | None = None
    seed: int
    warnings: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()
    clip: ClipFacts
    distillation: Distillation | None = None
    before: Metrics | None = None
    after: Metrics | None = None
    physics: Tracking | None = None
    versions: dict[str, str]
    files: tuple[OutputFile, ...] = ()
    exports: tuple[ExportedFile, ...] = ()
    seconds: dict[str, float]

    @property
    def delivered(self) -> Metrics | None:
        """Metrics of the motion as it was delivered: tracked, else with feet locked."""
        return self.physics.after if self.physics is not None and self.physics.kept else self.after

    def summary(self) -> str:
        """A few lines for a person, without the warnings."""
        clip, prompt, found = self.clip, self.prompt, self.delivered
        lines = [f"{self.character.name}: {self.character.body}, {self.character.height_m:.2f} m, {self.character.joints} joints"]
        if prompt is not None:
            lines.append(f"{prompt.sentence!r} understood as: {' '.join((*prompt.styles, prompt.action))}")
        lines.append(
            f"{clip.name}: {clip.frames} frames, {clip.seconds:.2f} s at {clip.fps:g} fps{', loop' if clip.loop else ''}, "
            f"{clip.travel_m:.2f} m over the ground, seed {self.seed}"
        )
        if self.physics is not None and self.physics.kept:
            lines.append(self.physics.summary())
        if found is not None:
            skate = "nothing planted" if found.skate_mm is None else f"skate {found.skate_mm:.1f} mm per 1/30 s"
            lines.append(f"{skate}, penetration at worst {found.penetration_worst_percent:.2f} % of the leg")
        return "\n".join(lines)

    def __str__(self) -> str:
        """The summary, a line for each warning, and last of all that a tracking failed, if it did."""
        failed = () if self.physics is None or self.physics.kept else (self.physics.summary(),)
        return "\n".join((self.summary(), *(f"warning: {warning}" for warning in self.warnings), *failed))

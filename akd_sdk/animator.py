"""Animator: a character, a prior and a seed; the verbs of the SDK put together."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import akd_sdk
from akd_sdk import reporting
from akd_sdk.distill import Distilled, DistillOptions, distill
from akd_sdk.errors import AkdError, BackendError, PhysicsError, RigError
from akd_sdk.exporters import ExportOptions, deliver, load_profile
from akd_sdk.exporters.options import Compression, Reduction
from akd_sdk.gait import MotionMetrics, find_contacts, lock_feet, measure, set_down, travel_of_root, with_travel
from akd_sdk.kinematics import motion_from_curves
from akd_sdk.motion import Motion
from akd_sdk.physics import Tracked, TrackOptions, track
from akd_sdk.priors import Prior, Prompt, VideoPrior, load_prior
from akd_sdk.progress import Progress, ProgressCallback, between, ignore
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig
from akd_sdk.schemas import AnimateOptions, ExportedFile, Report
from akd_sdk.sheet import contact_sheet, save_plot, save_preview, save_sheet, track_plot
from akd_sdk.views.rig_tokens import tokens_of

if TYPE_CHECKING:
    from akd_sdk.priors.video import VideoOptions

LARGEST_SEED = 2**63 - 1

DISTILL_SHARE = 0.9
"""Share of an animation's time that the distillation takes, for progress."""


@dataclass
class _Stopwatch:
    """Seconds by stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


class Animator:
    """Makes motions for one character.

    >>> animator = Animator.open("samples/quadruped.glb", seed=7)
    >>> motion = animator.animate("a dog trotting", seconds=2.0, loop=True)
    >>> grounded = animator.track(motion)
    >>> animator.export(grounded, "out/dog.glb")

    Steps return new values; between calls only the report of the last animation, and what the last tracking was, are kept.
    """

    def __init__(self, rig: Rig, prior: Prior | VideoPrior, seed: int = 0, *, height: float | None = None) -> None:
        if not 0 <= seed <= LARGEST_SEED:
            raise AkdError(f"{seed} is no seed", "--seed", f"give a whole number from 0 to {LARGEST_SEED}")
        self.rig = rig
        self.prior = prior
        self.seed = seed
        self._height = height
        self._report: Report | None = None
        self._tracked: Tracked | None = None
        self._exported: ExportedFile | None = None
        self.checkpoint: Path | None = None
        self._watch = _Stopwatch()

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        prior: str = "mini",
        weights: str | PathLike[str] | None = None,
        seed: int = 0,
        height: float | None = None,
        video: VideoOptions | None = None,
    ) -> Animator:
        """The character of a file.

        Args:
            path: a skinned .glb, .gltf or .vrm.
            prior: name of the prior: "mini", or a video model, "cogvideox", "ltx" or "wan".
            weights: a weight file for it instead of its own; of a video model the folder of its checkpoint.
            seed: of all that is random.
            height: metres, where the file's size is not to be believed.
            video: device, memory, length and size of the videos of a video model.

        Raises:
            ReadError: the file cannot be read. RigError: it holds no skinned character. PriorError: the prior cannot be used.
            BackendError: a video model lacks packages, weights, a device or memory. AkdError: options that cannot be.
        """
        watch = _Stopwatch()
        with watch.stage("reading"):
            rig = open_rig(Path(path), height=height)
        with watch.stage("loading the prior"):
            loaded = load_prior(prior, None if weights is None else Path(weights), video)
        animator = cls(rig, loaded, seed, height=height)
        animator._watch = watch
        return animator

    def understand(self, sentence: str) -> Prompt:
        """The sentence as the prior reads it for this body, before any work is done.

        Raises:
            PromptError: it asks for nothing that the prior knows. RigError: a body that the prior does not know.
        """
        return self.prior.parse(sentence, tokens_of(self.rig).body)

    def animate(
        self,
        sentence: str,
        *,
        seconds: float = 2.0,
        loop: bool = False,
        fps: float = 30.0,
        name: str | None = None,
        how: DistillOptions | None = None,
        guidance: float | None = None,
        resume: bool = False,
        keep: bool = False,
        progress: ProgressCallback = ignore,
    ) -> Motion:
        """The character doing what the sentence says, walking over the ground with its feet locked to it. An interrupted call
        (KeyboardInterrupt) leaves a checkpoint in the user's cache folder.

        Args:
            sentence: one action, in English: "a dog trotting", "a man walks slowly".
            seconds: length, 0.5 to what the prior sees at once (mini: 2); longer only for loops. Of mini a looped gait gets the nearest
                length that holds whole strides.
            loop: the last frame is the first pose, moved on by the travel.
            fps: frames a second.
            name: of the clip; by default made of the words understood.
            how: mode, steps, views and weights of the distillation; not its `seconds`, `loop` and `fps`, which are given here.
            guidance: weight of the sentence against the unconditioned prior; None: the prior's own.
            resume: go on from where the same call was interrupted.
            keep: leave the checkpoint of the finished call too, as `checkpoint`, until `discard_checkpoint` is called: hours of a video
                model are not lost to what is done with them.
            progress: told how far the work is; may raise to stop it.

        Raises:
            PromptError: the sentence, or the length. RigError: a body that the prior does not know. PriorError: nothing to resume.
            AkdError: an option that cannot be. BackendError: not enough memory for a video model.
        """
        _check(how or DistillOptions(), guidance, seconds=seconds, loop=loop, fps=fps)
        options = replace(how or DistillOptions(), seconds=seconds, loop=loop, fps=fps)
        tokens = tokens_of(self.rig)
        prompt = self.prior.parse(sentence, tokens.body)
        if guidance is not None:
            prompt = replace(prompt, guidance=guidance)
        watch = _Stopwatch(dict(self._watch.seconds))
        with watch.stage("distilling"):
            told = between(progress, 0.0, DISTILL_SHARE)
            made = distill(self.rig, tokens, self.prior, prompt, options, seed=self.seed, progress=told, resume=resume, keep=True)
        self.checkpoint, self._tracked = made.checkpoint, None
        with watch.stage("feet"):
            progress(Progress("locking feet", DISTILL_SHARE))
            provenance = {"prompt": sentence, "prior": self.prior.name, "seed": self.seed, "akd_sdk": akd_sdk.__version__}
            raw = self._over_ground(motion_from_curves(self.rig, made.curves, name or clip_name(prompt), provenance))
            motion = lock_feet(self.rig, raw, find_contacts(self.rig, raw))
            progress(Progress("locking feet", 1.0))
        with watch.stage("measuring"):
            measured = measure(self.rig, raw), measure(self.rig, motion, reference=raw)
        if not keep:
            self.discard_checkpoint()
        asked = AnimateOptions(prior=self.prior.name, seconds=seconds, loop=loop, fps=fps, height_m=self._height)
        self._report = self._described(asked, prompt, made, motion, measured).model_copy(update={"seconds": watch.seconds})
        return motion

    def _described(
        self, asked: AnimateOptions, prompt: Prompt, made: Distilled, motion: Motion, measured: tuple[MotionMetrics, MotionMetrics]
    ) -> Report:
        """The report of an animation, its times aside; measured before and after feet were locked."""
        before, after = measured
        unknown = () if not prompt.unknown else (f"not understood: {', '.join(prompt.unknown)}",)
        plain = reporting.plain_report(self.rig, motion, self.seed)
        return plain.model_copy(
            update={
                "options": asked,
                "prompt": reporting.understanding(prompt),
                "warnings": (*unknown, *prompt.notes, *made.notes, *reporting.doubts(prompt.action, motion, after)),
                "distillation": reporting.distillation(self.prior, prompt, made.options),
                "before": reporting.metrics(before),
                "after": reporting.metrics(after),
                "versions": reporting.versions(*(reporting.PIXEL_LIBRARIES if self.prior.observes == "pixels" else ())),
            }
        )

    def _over_ground(self, motion: Motion) -> Motion:
        """A distilled motion on the ground, travelling: as pixels showed it, or on tracks as its feet tell."""
        lowered = set_down(self.rig, motion)
        return with_travel(self.rig, lowered, travel_of_root(self.rig, lowered) if self.prior.observes == "pixels" else None)

    def lock_feet(self, motion: Motion) -> Motion:
        """A clip of the file, say, going over the ground with its feet held on it; what `animate` makes does so already.

        Artists' clips walk in place, and their feet skate: what is to be tracked must be able to stand.
        """
        moved = with_travel(self.rig, motion)
        return lock_feet(self.rig, moved, moved.contacts if moved.contacts is not None else find_contacts(self.rig, moved))

    def track(
        self,
        motion: Motion,
        *,
        effort: str = "default",
        friction: float = 0.8,
        help: bool = True,
        budget: float | None = None,
        device: str = "cpu",
        strict: bool = True,
        progress: ProgressCallback = ignore,
    ) -> Motion:
        """The motion as the character's own body does it in a simulation, with gravity, friction and contact.

        Joints are driven towards the motion. Where the body would fall, the pelvis is helped by the least force and torque that keep it
        up; how much that was is in the report (`report.physics`), with metrics before and after. Of a motion that `animate` did not make
        the report is a new one. Feet that skate cannot be tracked: hold the clips of a file with `lock_feet` first.

        Args:
            motion: of this character.
            effort: "default"; "best" also searches for what to drive the joints towards, from no help on, for `budget` seconds.
            friction: of the ground.
            help: whether the pelvis may be helped at all.
            budget: processor seconds of effort "best"; None: six for a second of motion. An interruption gives the best until then.
            device: that steps the simulation, "cpu", "cuda" or "cuda:1".
            strict: refuse a motion that cannot be tracked; else it comes back as it was, and report and exported clips say why.
            progress: told how far the work is; may raise to stop it.

        Raises:
            PhysicsError: it falls with all the help that is allowed, or the simulation fails. RigError: a body without volume or feet.
            BackendError: the simulation cannot run here. AkdError: an option that cannot be.
        """
        options = TrackOptions(effort=effort, friction=friction, help=help, budget_s=budget, seed=self.seed, device=device)
        watch = _Stopwatch()
        self._tracked = None
        try:
            with watch.stage("tracking"):
                tracked = track(self.rig, motion, options, progress=progress)
        except (PhysicsError, RigError, BackendError) as fault:
            if strict:
                raise
            found, moved = reporting.untracked(fault, options), motion.with_(provenance={**motion.provenance, "physics": _why(fault)})
        else:
            found, moved = reporting.tracking(tracked, options), tracked.motion
            self._tracked = tracked
        report = self._report if reporting.same_animation(self._report, motion) else None
        report = report or reporting.plain_report(self.rig, motion, self.seed, self._watch.seconds)
        self._report = reporting.with_tracking(report, found, moved, watch.seconds)
        return moved

    @property
    def tracked(self) -> Tracked:
        """The last tracking, with its record over time."""
        if self._tracked is None:
            raise AkdError("nothing was tracked yet", hint="call track first")
        return self._tracked

    def plot(self, path: str | PathLike[str], *, force: bool = False) -> Path:
        """Draw the last tracking over time as PNG: feet, help, centre of mass and support, before and after."""
        tracked = self.tracked
        title, remark = f"{self.rig.name}: {tracked.motion.name}", self.report.physics.summary() if self.report.physics else ""
        with self._written("drawing") as files:
            files.append(save_plot(track_plot(tracked.record, title, remark, tracked.caps), Path(path), force=force))
        return files[0]

    def discard_checkpoint(self) -> None:
        """Remove the checkpoint that `animate` was told to keep, where there is one."""
        if self.checkpoint is not None:
            self.checkpoint.unlink(missing_ok=True)
            self.checkpoint = None

    def export(
        self,
        motion: Motion | Sequence[Motion],
        path: str | PathLike[str],
        *,
        profile: str | None = None,
        root_mode: str | None = None,
        add_root: bool = False,
        all_joints: bool = False,
        clip_only: bool = False,
        reduction: Reduction = "fast",
        tolerance: float | None = None,
        feet_tolerance: float | None = None,
        compression: Compression = "none",
        fps: float | None = None,
        t_pose: bool = False,
        dialect: str | None = None,
        force: bool = False,
        progress: ProgressCallback = ignore,
    ) -> Path:
        """Write a motion, or several where the format holds several; the suffix chooses the format (.glb, .usda, .usdc, .usd, .usdz, .bvh).
        What is in the file is told by `exported` afterwards, and by the report.

        Args:
            motion, path: of this character; what to write.
            profile: an engine, "godot", "unity", "unreal", "omniverse", "isaac", "blender", "web", or a .json of one's own.
            root_mode: travel stays on the pelvis ("hips"), goes to a root above ("root"), is taken out ("in_place"); None: the profile's.
            add_root, all_joints, clip_only: add a root bone where none is; channels for joints that rest, too; no mesh.
            reduction, compression: "none" (a key a frame), "fast", or "best": fewer bytes; "meshopt" for engines that read it.
            tolerance, feet_tolerance: how far reduced keys and planted feet may stray, metres at human size; None: 1 and 0.2 mm.
            fps, t_pose, dialect: of a BVH (fps of USD, too): None: the motion's; a T pose at zero; "blender", "motionbuilder", "cgspeed".
            force, progress: replace what is there; told how far the reduction is.

        Raises:
            ExportError: unknown formats or profiles, options that a format cannot do, a file that exists (unless forced), a full disk.
        """
        engine = None if profile is None else load_profile(profile)
        bounds = (reduction, tolerance, feet_tolerance, compression)
        options = ExportOptions(engine, clip_only, all_joints, add_root, fps, t_pose, *bounds, dialect=dialect)
        with self._written("exporting") as files:
            made = deliver(self.rig, motion, path, root_mode=root_mode, force=force, options=options, progress=progress)
            files.append(made.path)
        self._exported = made.facts
        if self._report is not None:
            self._report = self._report.model_copy(update={"exports": (*self._report.exports, made.facts)})
        return made.path

    @property
    def exported(self) -> ExportedFile:
        """What the last export wrote: clips, keys, errors, names, and what there is to do in the engine."""
        if self._exported is None:
            raise AkdError("nothing was exported yet", hint="call export first")
        return self._exported

    def sheet(
        self,
        motion: Motion,
        path: str | PathLike[str],
        *,
        before: Motion | None = None,
        renderer: str = "mesh",
        force: bool = False,
    ) -> Path:
        """Write a contact sheet of a motion: the character at twelve times, from the side and from three quarters, as PNG.

        `before`: the motion before it was tracked, drawn above it. `renderer`: "mesh" draws its triangles, "splat" its Gaussians on the
        checkerboard, as a video prior sees them.
        """
        with self._written("drawing") as files:
            drawn = contact_sheet(self.rig, motion, before=before, renderer=renderer)
            files.append(save_sheet(drawn, Path(path), force=force))
        return files[0]

    def preview(self, motion: Motion, path: str | PathLike[str], *, force: bool = False, progress: ProgressCallback = ignore) -> Path:
        """Write a motion as a moving picture, .gif or animated .png; progress is told picture by picture."""
        with self._written("drawing") as files:
            files.append(save_preview(self.rig, motion, Path(path), force=force, progress=progress))
        return files[0]

    @property
    def report(self) -> Report:
        """What the last animation, or the last tracking of a clip, was and made, and the files written since."""
        if self._report is None:
            raise AkdError("there is no report yet", hint="call animate or track first")
        return self._report

    @contextmanager
    def _written(self, stage: str) -> Iterator[list[Path]]:
        """Files written in the block, and the time that they took, go to the report of the last animation."""
        files: list[Path] = []
        watch = _Stopwatch() if self._report is None else _Stopwatch(dict(self._report.seconds))
        with watch.stage(stage):
            yield files
        if self._report is not None:
            listed = (*self._report.files, *(reporting.output_file(file) for file in files))
            self._report = self._report.model_copy(update={"files": listed, "seconds": watch.seconds})


def _check(how: DistillOptions, guidance: float | None, **length: float) -> None:
    """Refuse a guidance that is no number, and options with a length of their own that is not the call's: one of the two is a mistake."""
    if guidance is not None and not math.isfinite(guidance):
        raise AkdError(f"{guidance:g} is no weight of the sentence", "--guidance", "give a number such as 2.5")
    for name, given in length.items():
        theirs = getattr(how, name)
        if theirs not in (given, getattr(DistillOptions(), name)):
            raise AkdError(f"{name} is {theirs} in how, {given} in the call", "how", f"give {name} to animate itself")


def _why(fault: AkdError) -> dict[str, object]:
    """What a clip says in files of a tracking that failed; of one that did not, physics itself tells."""
    return {"tracked": False, "why": str(fault)}


def clip_name(prompt: Prompt) -> str:
    """What a clip of this prompt is called where no name is given."""
    return "_".join((*prompt.styles, prompt.action))

"""What a run was and made, in the words of the report's schema."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import numpy as np

import akd_sdk
from akd_sdk.distill import DistillOptions
from akd_sdk.errors import AkdError
from akd_sdk.gait import MotionMetrics
from akd_sdk.gait.coherence import gaits_of
from akd_sdk.motion import Motion
from akd_sdk.physics import Tracked, TrackOptions
from akd_sdk.priors import Prior, Prompt, VideoPrior
from akd_sdk.rig import Rig
from akd_sdk.schemas import (
    Character,
    ClipFacts,
    Distillation,
    Filming,
    GaitFit,
    HelpUsed,
    Metrics,
    OutputFile,
    Report,
    SourceFile,
    Tracking,
    Understanding,
)

LIBRARIES: Final = ("numpy", "scipy", "torch", "usd-core")
"""Libraries whose version may change a result."""
PIXEL_LIBRARIES: Final = ("warp-lang", "diffusers", "transformers")
"""The same, where a prior looks at pixels."""
PHYSICS_LIBRARIES: Final = ("newton", "mujoco", "warp-lang")
"""The same, where a motion is tracked."""
TRACK_WEIGHTS: Final = ("smoothness", "effort", "twist", "limits", "ground")
PIXEL_WEIGHTS: Final = ("smoothness", "boxes", "effort", "twist", "limits")
"""Names of the losses' weights in the options."""

GAITS: Final = frozenset((*gaits_of(("",) * 4), *gaits_of(("",) * 2)))
LEAST_COHERENCE, LEAST_SWING = 0.9, 0.5
"""What a made gait keeps, but for failures: see the model card of the embedded prior."""
SHORTEST_JUDGED_S: Final = 1.5
"""Seconds; shorter clips may hold less than a stride, which cannot be judged."""


def source_file(path: Path) -> SourceFile:
    """The character's file, with the hash of its content."""
    content = path.read_bytes()
    return SourceFile(path=str(path), bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


def output_file(path: Path) -> OutputFile:
    """A file that was written."""
    return OutputFile(path=str(path), bytes=path.stat().st_size)


def character(rig: Rig) -> Character:
    """The character as the program sees it."""
    x, y, z = (float(v) for v in rig.forward)
    return Character(name=rig.name, body=rig.body, height_m=rig.height, joints=rig.skeleton.count, forward=(x, y, z))  # type: ignore[arg-type]  # pydantic checks it


def understanding(prompt: Prompt) -> Understanding:
    """The sentence as the prior understood it."""
    return Understanding(
        sentence=prompt.sentence,
        body=prompt.body,
        action=prompt.action,
        styles=prompt.styles,
        unknown=prompt.unknown,
        notes=prompt.notes,
        guidance=prompt.guidance,
    )


def distillation(prior: Prior | VideoPrior, prompt: Prompt, options: DistillOptions) -> Distillation:
    """How a distillation with settled options went about it."""
    pixels = isinstance(prior, VideoPrior)
    source, names = (options.pixels, PIXEL_WEIGHTS) if pixels else (options, TRACK_WEIGHTS)
    return Distillation(
        observes="pixels" if pixels else "tracks",
        mode=options.mode or "",
        steps=options.steps or 0,
        inner=options.inner,
        views=options.views or 0,
        guidance=prompt.guidance,
        rate=options.rate,
        rate_decay=options.rate_decay,
        bandwidth_hz=options.bandwidth_hz,
        t_range=options.pixels.t_range if pixels or options.mode == "random-t" else (1.0, 0.0),
        weights={name: float(getattr(source, name)) for name in names},
        filming=_filming(prior, options) if isinstance(prior, VideoPrior) else None,
    )


def _filming(prior: VideoPrior, options: DistillOptions) -> Filming:
    height, width = prior.size
    return Filming(
        frames=prior.frames,
        fps=prior.fps,
        width=width,
        height=height,
        look=options.pixels.look,
        gaussians=options.pixels.gaussians,
        ground=options.pixels.ground,
        stages=tuple(asdict(stage) for stage in options.pixels.stages),
        unlock=options.pixels.unlock,
        elevation_deg=options.pixels.elevation_deg,
        device=prior.device,
        notes=prior.notes,
    )


def doubts(action: str, motion: Motion, measured: MotionMetrics | Metrics) -> tuple[str, ...]:
    """What of a clip is not as it was asked for: one line for the user each."""
    found = []
    fit = measured.gaits.get(action)
    judged = action in GAITS and motion.duration >= SHORTEST_JUDGED_S
    if judged and fit is None:
        found.append(f"no {action} came out: the feet make no strides; another seed may do better")
    if judged and fit is not None and (fit.coherence < LEAST_COHERENCE or fit.swing < LEAST_SWING):
        told = f"feet keep its order by {fit.coherence:.2f} of 1 and swing {100 * fit.swing:.0f} % as far as usual"
        found.append(f"the {action} came out badly: {told}; another seed may do better")
    if not measured.contact_duty:
        found.append("no foot ever stands on the ground")
    return tuple(found)


def clip_facts(motion: Motion) -> ClipFacts:
    """The clip that was made."""
    travel = 0.0 if motion.travel is None else float(np.linalg.norm(np.diff(motion.travel[:, :2], axis=0), axis=1).sum())
    return ClipFacts(
        name=motion.name, frames=motion.frames, fps=float(motion.fps), seconds=motion.duration, loop=motion.loop, travel_m=travel
    )


def metrics(measured: MotionMetrics) -> Metrics:
    """Measurements for a file."""
    return Metrics(
        planted_share=measured.planted_share,
        contact_duty=measured.contact_duty,
        skate_mm=measured.skate_mm,
        penetration_mean_percent=measured.penetration_mean_percent,
        penetration_worst_percent=measured.penetration_worst_percent,
        float_share=measured.float_share,
        jitter=measured.jitter,
        duty=measured.duty,
        frequency_hz=measured.frequency_hz,
        gaits={gait: GaitFit(coherence=fit.coherence, swing=fit.swing) for gait, fit in measured.gaits.items()},
    )


def plain_report(rig: Rig, motion: Motion, seed: int, seconds: Mapping[str, float] | None = None) -> Report:
    """What can be said of any motion of a character; `seconds` by stage."""
    return Report(
        source=source_file(rig.source.path),
        character=character(rig),
        seed=seed,
        guessed=rig.notes,
        repaired=rig.source.repairs,
        clip=clip_facts(motion),
        versions=dict(versions()),
        seconds=dict(seconds or {}),
    )


def with_tracking(report: Report, found: Tracking, motion: Motion, seconds: Mapping[str, float]) -> Report:
    """The report with what became of its motion in a simulation; `motion` is what is delivered now, `seconds` by stage are added."""
    options, prompt = report.options, report.prompt
    lost = () if prompt is None or found.after is None else doubts(prompt.action, motion, found.after)
    asked = None if options is None else options.model_copy(update={"physics": True, "effort": found.effort, "friction": found.friction})
    return report.model_copy(
        update={
            "options": asked,
            "warnings": tuple(dict.fromkeys((*report.warnings, *found.notes, *(f"after tracking {line}" for line in lost)))),
            "clip": clip_facts(motion),
            "physics": found,
            "versions": {**report.versions, **versions(*PHYSICS_LIBRARIES)},
            "seconds": {**report.seconds, **seconds},
        }
    )


def tracking(tracked: Tracked, options: TrackOptions) -> Tracking:
    """How a motion was tracked."""
    force, torque = tracked.caps
    loops = tracked.cycles > 0
    return Tracking(
        effort=tracked.effort,  # type: ignore[arg-type]  # pydantic checks it
        friction=options.friction,
        kept=True,
        force=HelpUsed(cap=force, mean=tracked.mean_force, peak=tracked.peak_force),
        torque=HelpUsed(cap=torque, mean=tracked.mean_torque, peak=tracked.peak_torque),
        alone_s=tracked.alone_s,
        bodies=tracked.bodies,
        mass_kg=tracked.mass,
        dt_s=tracked.dt,
        cycles=tracked.cycles,
        closure_deg=tracked.closure_deg if loops else None,
        closure_speed=tracked.closure_speed if loops else None,
        cpu_s=tracked.seconds,
        before=metrics(tracked.before),
        after=metrics(tracked.after),
        notes=tracked.notes,
    )


def untracked(fault: AkdError, options: TrackOptions) -> Tracking:
    """Why a motion could not be tracked."""
    return Tracking(effort=options.effort, friction=options.friction, kept=False, fault=str(fault))  # type: ignore[arg-type]  # pydantic checks it


def same_animation(report: Report | None, motion: Motion) -> bool:
    """Whether a motion comes from the animation that the report is about, as it is or edited."""
    if report is None or report.prompt is None or report.options is None:
        return False
    made = report.prompt.sentence, report.options.prior, report.seed
    return made == tuple(motion.provenance.get(key) for key in ("prompt", "prior", "seed"))


def versions(*libraries: str) -> Mapping[str, str]:
    """Versions of what shapes every result, and of these libraries."""
    found = {"akd-sdk": akd_sdk.__version__, "python": platform.python_version()}
    for library in (*LIBRARIES, *libraries):
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            found[library] = "unknown"
    return found

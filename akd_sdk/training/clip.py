"""One clip of the teacher: a body, what it does, and its joints over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.random import Generator

from akd_sdk.priors.mini.model import FPS, FRAMES
from akd_sdk.priors.mini.vocabulary import ACTIONS, CYCLIC
from akd_sdk.training.actions import idle_carriage, jump_carriage
from akd_sdk.training.bodies import draw_body
from akd_sdk.training.body import Body
from akd_sdk.training.gaits import Stride, draw_stride
from akd_sdk.training.poses import pose
from akd_sdk.training.strides import stride_carriage
from akd_sdk.training.turns import Array
from akd_sdk.views.tokens import Tokens

KIND_SHARES: Final = {"quadruped": 0.52, "biped": 0.34, "bird": 0.14}
STYLE_SHARES: Final = {None: 0.64, "slow": 0.18, "fast": 0.18}
LOOP_SHARE: Final = 0.5
"""Share of clips that repeat exactly after the window, as distilled loops do."""

_STILL_WEIGHT: Final = 0.6
"""How often jump and idle come for each gait."""


@dataclass(frozen=True)
class TeacherClip:
    """A clip.

    Attributes:
        tokens: the body as a prior sees it.
        positions: (frames, tokens, 3) hip heights, character frame, travel removed.
        action, style: canonical words; no style is None.
        stride: what was drawn, for gaits.
    """

    tokens: Tokens
    positions: Array
    action: str
    style: str | None
    stride: Stride | None


@dataclass(frozen=True)
class ClipWish:
    """What a clip is to be; None is drawn. `fps` and `frames` are of the window."""

    action: str | None = None
    style: str | None = None
    loop: bool | None = None
    any_style: bool = False
    frames: int = FRAMES
    fps: float = FPS


def draw_kind(rng: Generator) -> str:
    """A random kind of body by KIND_SHARES."""
    return str(rng.choice(list(KIND_SHARES), p=list(KIND_SHARES.values())))


def _settled(rng: Generator, kind: str, wish: ClipWish) -> tuple[str, str | None, bool]:
    weights = np.array([1.0 if action in CYCLIC else _STILL_WEIGHT for action in ACTIONS[kind]])
    action = wish.action or str(rng.choice(ACTIONS[kind], p=weights / weights.sum()))
    style = wish.style
    if wish.any_style:
        style = list(STYLE_SHARES)[int(rng.choice(len(STYLE_SHARES), p=list(STYLE_SHARES.values())))]
    loop = bool(rng.random() < LOOP_SHARE) if wish.loop is None else wish.loop
    return action, style if action in CYCLIC else None, loop


def draw_clip(rng: Generator, body: Body, wish: ClipWish | None = None) -> TeacherClip | None:
    """A random clip of a body, or None where its legs cannot do what was drawn or a joint would dip below the ground."""
    wish = wish or ClipWish(any_style=True)
    action, style, loop = _settled(rng, body.kind, wish)
    times = np.arange(wish.frames) / wish.fps
    loop_s = wish.frames / wish.fps if loop else None
    stride = None
    if action in CYCLIC:
        stride = draw_stride(rng, body.kind, action, style, loop_s)
        carriage = stride_carriage(rng, body, stride, times)
    elif action == "jump":
        carriage = jump_carriage(rng, body, times)
    else:
        carriage = idle_carriage(rng, body, times, loop_s)
    positions = pose(carriage)
    if positions is None or positions[..., 1].min() < -1e-6:
        return None
    origin = body.rest[0] * np.array([1.0, 0.0, 1.0])
    return TeacherClip(body.tokens(), positions - origin, action, style, stride)


def draw_any(rng: Generator, kind: str | None = None, wish: ClipWish | None = None) -> TeacherClip:
    """A random clip of a random body."""
    while True:
        clip = draw_clip(rng, draw_body(rng, kind or draw_kind(rng)), wish)
        if clip is not None:
            return clip

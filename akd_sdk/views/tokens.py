"""Tokens: a body as a prior sees it, one token a joint, free of any file's names, units, facing and topology.

The frame is the character's own: Y up, facing +Z, left +X; lengths are hip heights (the rest height of the hind-leg hip
above the ground is 1); the origin lies on the ground under the pelvis. Teacher bodies and rigs give the same type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

GROUPS: Final = ("root", "spine", "neck", "head", "tail", "foreleg", "leg", "arm", "wing", "other")
"""Kinematic groups of a token, in the order of the prior's embedding."""

SIDES: Final = ("middle", "left", "right")
"""Sides of a token, anatomical, in the order of the prior's embedding."""

LIMBS: Final = ("LH", "RH", "LF", "RF")
"""Legs by side (L, R) and end (H hind, F fore); bipeds and birds have hind legs only."""

MAX_TOKENS: Final = 34
"""Most tokens a body may have; joints beyond that follow rigidly."""


@dataclass(frozen=True)
class Tokens:
    """The tokens of one body.

    Attributes:
        names: what each token is, for messages and sheets.
        rest: (tokens, 3) rest positions, hip heights, character frame.
        parents: (tokens,) parents before children, -1 for the first token, which is the pelvis or trunk root.
        groups: (tokens,) index into GROUPS.
        sides: (tokens,) index into SIDES.
        chain: (tokens,) position along the token's limb or chain, 0 at its base to 1 at its end.
        joints: (tokens,) the skeleton's joint that the token stands for, -1 where there is none.
        tips: (tokens,) index into the skeleton's virtual tips, -1 where the token is a joint.
        feet: the token of each leg's foot tip (what touches the ground), by LIMBS.
        hips: the token of each leg's topmost joint, by LIMBS.
        body: "quadruped", "biped" or "bird".
    """

    names: tuple[str, ...]
    rest: NDArray[np.float64]
    parents: NDArray[np.int64]
    groups: NDArray[np.int64]
    sides: NDArray[np.int64]
    chain: NDArray[np.float64]
    joints: NDArray[np.int64]
    tips: NDArray[np.int64]
    feet: Mapping[str, int]
    hips: Mapping[str, int]
    body: str

    @property
    def count(self) -> int:
        return len(self.names)

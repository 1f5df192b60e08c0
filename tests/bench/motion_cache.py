"""Distilled motions kept in a folder: distilling takes longer than what is measured on them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from akd_sdk.motion import Motion

ARRAYS = ("rotations", "root", "translations", "scales", "contacts", "travel")


def save_motion(motion: Motion, path: Path) -> None:
    """Write a motion without morphs as .npz; its provenance as text."""
    arrays = {name: getattr(motion, name) for name in ARRAYS if getattr(motion, name) is not None}
    told = json.dumps({"name": motion.name, "fps": motion.fps, "loop": motion.loop, "provenance": dict(motion.provenance)}, default=str)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft.npz")
    np.savez_compressed(draft, told=np.array(told), **arrays)
    draft.replace(path)


def load_motion(path: Path) -> Motion:
    with np.load(path) as stored:
        told = json.loads(str(stored["told"]))
        arrays = {name: stored[name] for name in ARRAYS if name in stored}
    return Motion(**told, **arrays)

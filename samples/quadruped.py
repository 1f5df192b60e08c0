"""A dog made by code: bones, flesh around them, colours; writes quadruped.glb and its labels beside this file.

Run `python -m samples.quadruped` in the root of the project. Metres, Y up, facing +Z, left +X, feet on y = 0.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from samples.character import Bone, Character, Colour, both_sides, save
from samples.shapes import Flesh, Part

Array = NDArray[np.float64]

BONES = both_sides(
    [
        Bone("hips", None, (0.0, 0.510, -0.205)),
        Bone("spine_1", "hips", (0.0, 0.522, -0.095)),
        Bone("spine_2", "spine_1", (0.0, 0.522, 0.020)),
        Bone("chest", "spine_2", (0.0, 0.515, 0.130)),
        Bone("neck_1", "chest", (0.0, 0.540, 0.230)),
        Bone("neck_2", "neck_1", (0.0, 0.610, 0.290)),
        Bone("head", "neck_2", (0.0, 0.690, 0.345)),
        Bone("foreleg_upper_l", "chest", (0.080, 0.415, 0.205)),
        Bone("foreleg_lower_l", "foreleg_upper_l", (0.082, 0.305, 0.130)),
        Bone("foreleg_pastern_l", "foreleg_lower_l", (0.080, 0.120, 0.150)),
        Bone("foreleg_paw_l", "foreleg_pastern_l", (0.080, 0.040, 0.168)),
        Bone("tail_1", "hips", (0.0, 0.535, -0.300)),
        Bone("tail_2", "tail_1", (0.0, 0.505, -0.385)),
        Bone("tail_3", "tail_2", (0.0, 0.450, -0.450)),
        Bone("tail_4", "tail_3", (0.0, 0.400, -0.515)),
        Bone("hindleg_upper_l", "hips", (0.074, 0.470, -0.230)),
        Bone("hindleg_lower_l", "hindleg_upper_l", (0.084, 0.308, -0.140)),
        Bone("hindleg_hock_l", "hindleg_lower_l", (0.080, 0.158, -0.300)),
        Bone("hindleg_paw_l", "hindleg_hock_l", (0.080, 0.042, -0.272)),
    ]
)

TRUNK = (
    Flesh("hips", (0.0, 0.480, -0.245), (0.0, 0.482, -0.120), (0.092, 0.092)),
    Flesh("spine_1", (0.0, 0.482, -0.120), (0.0, 0.472, 0.020), (0.092, 0.112), (0.95, 1.0, 1.0), 0.04),
    Flesh("spine_2", (0.0, 0.472, 0.020), (0.0, 0.455, 0.130), (0.112, 0.122), (0.90, 1.0, 1.0), 0.04),
    Flesh("chest", (0.0, 0.455, 0.130), (0.0, 0.440, 0.195), (0.122, 0.098), (0.85, 1.0, 1.0), 0.04),
    Flesh("neck_1", (0.0, 0.490, 0.185), (0.0, 0.590, 0.275), (0.088, 0.070), (0.85, 1.0, 1.0), 0.05),
    Flesh("neck_2", (0.0, 0.590, 0.275), (0.0, 0.685, 0.345), (0.070, 0.058), (0.88, 1.0, 1.0), 0.03),
)

HEAD = (
    Flesh("head", (0.0, 0.705, 0.370), (0.0, 0.700, 0.420), (0.066, 0.060), (0.98, 1.0, 1.0), 0.03),
    Flesh("head", (0.0, 0.680, 0.440), (0.0, 0.662, 0.545), (0.040, 0.027), (1.0, 1.0, 1.0), 0.035),
    Flesh("head", (0.0, 0.652, 0.430), (0.0, 0.640, 0.520), (0.032, 0.018), (1.0, 1.0, 1.0), 0.015),
    Flesh("head", (0.034, 0.676, 0.400), (0.030, 0.668, 0.430), (0.034, 0.026), (1.0, 1.0, 1.0), 0.03),
    Flesh("head", (0.030, 0.722, 0.432), (0.022, 0.712, 0.448), (0.018, 0.016), (1.0, 1.0, 1.0), 0.02),
    Flesh("head", (0.044, 0.745, 0.368), (0.062, 0.835, 0.356), (0.034, 0.010), (0.85, 1.0, 0.85), 0.018),
)

FORELEG = (
    Flesh("foreleg_upper_l", (0.066, 0.470, 0.160), (0.082, 0.400, 0.195), (0.055, 0.058), (0.75, 1.0, 1.0), 0.04),
    Flesh("foreleg_upper_l", (0.082, 0.400, 0.195), (0.083, 0.310, 0.133), (0.056, 0.040), (0.80, 1.0, 1.0), 0.025),
    Flesh("foreleg_lower_l", (0.083, 0.305, 0.136), (0.080, 0.120, 0.150), (0.038, 0.022), (0.90, 1.0, 1.0), 0.015),
    Flesh("foreleg_pastern_l", (0.080, 0.120, 0.150), (0.080, 0.045, 0.165), (0.022, 0.021), (1.05, 1.0, 1.0), 0.012),
    Flesh("foreleg_paw_l", (0.080, 0.022, 0.170), (0.081, 0.017, 0.215), (0.028, 0.025), (1.15, 1.0, 1.0), 0.015),
)

HINDLEG = (
    Flesh("hindleg_upper_l", (0.056, 0.475, -0.215), (0.084, 0.330, -0.160), (0.086, 0.052), (0.72, 1.0, 1.0), 0.04),
    Flesh("hindleg_upper_l", (0.062, 0.440, -0.270), (0.080, 0.345, -0.220), (0.062, 0.045), (0.72, 1.0, 1.0), 0.04),
    Flesh("hindleg_lower_l", (0.085, 0.318, -0.158), (0.082, 0.255, -0.215), (0.050, 0.036), (0.78, 1.0, 1.0), 0.025),
    Flesh("hindleg_lower_l", (0.082, 0.255, -0.215), (0.080, 0.162, -0.296), (0.036, 0.020), (0.82, 1.0, 1.0), 0.02),
    Flesh("hindleg_hock_l", (0.080, 0.162, -0.302), (0.080, 0.045, -0.275), (0.021, 0.021), (1.0, 1.0, 1.0), 0.012),
    Flesh("hindleg_paw_l", (0.080, 0.022, -0.268), (0.081, 0.017, -0.222), (0.028, 0.025), (1.15, 1.0, 1.0), 0.015),
)

TAIL = (
    Flesh("tail_1", (0.0, 0.530, -0.290), (0.0, 0.505, -0.385), (0.034, 0.030), (1.0, 1.0, 1.0), 0.03),
    Flesh("tail_2", (0.0, 0.505, -0.385), (0.0, 0.450, -0.450), (0.030, 0.034), (1.0, 1.0, 1.0), 0.02),
    Flesh("tail_3", (0.0, 0.450, -0.450), (0.0, 0.400, -0.515), (0.034, 0.030), (1.0, 1.0, 1.0), 0.02),
    Flesh("tail_4", (0.0, 0.400, -0.515), (0.0, 0.370, -0.590), (0.030, 0.010), (1.0, 1.0, 1.0), 0.02),
)

NOSE = (Flesh("head", (0.0, 0.672, 0.566), (0.0, 0.672, 0.566), (0.016, 0.016), (1.15, 0.85, 0.9)),)
EYE = (Flesh("head", (0.036, 0.708, 0.463), (0.036, 0.708, 0.463), (0.012, 0.012)),)

TAN, CREAM = np.array([0.42, 0.21, 0.075]), np.array([0.72, 0.56, 0.36])
SADDLE, MASK = np.array([0.06, 0.04, 0.03]), np.array([0.05, 0.035, 0.03])


def blend(colour: Array, other: Array, share: Array) -> Array:
    share = np.clip(share, 0.0, 1.0)[:, None]
    return (1.0 - share) * colour + share * other


def coat(points: Array) -> Array:
    """Tan with a dark saddle and muzzle, cream belly and socks, dark tips of ears and tail; linear RGB."""
    x, y, z = np.abs(points[:, 0]), points[:, 1], points[:, 2]
    colour = np.tile(TAN, (len(points), 1))
    on_trunk = np.clip((y - 0.30) / 0.05, 0.0, 1.0) * np.clip((0.33 - z) / 0.05, 0.0, 1.0)
    colour = blend(colour, SADDLE, on_trunk * (y - 0.5 - 0.2 * x) / 0.035 * (z < 0.24))
    belly = np.where((z > -0.2) & (z < 0.32), (0.39 - y - 0.5 * x) / 0.05, 0.0) * (y > 0.3) * np.clip((0.068 - x) / 0.02, 0.0, 1.0)
    colour = blend(colour, CREAM, belly)
    colour = blend(colour, CREAM, (0.10 - y) / 0.04)
    colour = blend(colour, MASK, (z - 0.455 - 0.6 * np.abs(y - 0.665)) / 0.03)
    colour = blend(colour, SADDLE, (y - 0.775) / 0.03)
    return blend(colour, SADDLE, (-0.45 - z) / 0.06)


PARTS = (
    Part("coat", "coat", TRUNK + HEAD + FORELEG + HINDLEG + TAIL, 0.0105, 1740, coat, sole=True),
    Part("nose", "dark", NOSE, 0.008, 26),
    Part("eyes", "eye", EYE, 0.005, 40),
)

COLOURS = (Colour("coat", (1.0, 1.0, 1.0), 0.9), Colour("dark", (0.02, 0.016, 0.016), 0.4), Colour("eye", (0.03, 0.015, 0.008), 0.2))


def leg(stem: str, side: str) -> list[str]:
    return [bone.name for bone in BONES if bone.name.startswith(stem) and bone.name.endswith(side)]


LABELS: dict[str, object] = {
    "kind": "quadruped",
    "facing": "+Z",
    "skin": 0,
    "pelvis": "hips",
    "groups": {
        "trunk": ["hips", "spine_1", "spine_2", "chest"],
        "neck_head": ["neck_1", "neck_2", "head"],
        "tail": ["tail_1", "tail_2", "tail_3", "tail_4"],
        "fore_left": leg("foreleg", "_l"),
        "fore_right": leg("foreleg", "_r"),
        "hind_left": leg("hindleg", "_l"),
        "hind_right": leg("hindleg", "_r"),
    },
    "not_anatomy": [],
}

QUADRUPED = Character("quadruped", BONES, PARTS, COLOURS, LABELS)

if __name__ == "__main__":
    save(QUADRUPED, Path(__file__).parent)

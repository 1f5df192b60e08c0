"""A person made by code: bones, flesh and clothes around them; writes biped.glb and its labels beside this file.

Run `python -m samples.biped` in the root of the project. Metres, Y up, facing +Z, left +X, arms in A pose, soles on y = 0.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from samples.character import Bone, Character, Colour, both_sides, save
from samples.shapes import Flesh, Part, Point

Array = NDArray[np.float64]

SHOULDER, ELBOW, WRIST = (0.178, 1.405, -0.015), (0.352, 1.190, -0.030), (0.505, 0.990, 0.000)
HIP, KNEE, ANKLE, BALL = (0.092, 0.910, 0.000), (0.100, 0.495, 0.012), (0.106, 0.085, -0.030), (0.116, 0.025, 0.105)

BONES = both_sides(
    [
        Bone("hips", None, (0.0, 0.960, 0.000)),
        Bone("spine", "hips", (0.0, 1.065, -0.008)),
        Bone("chest", "spine", (0.0, 1.185, -0.014)),
        Bone("upper_chest", "chest", (0.0, 1.305, -0.016)),
        Bone("neck", "upper_chest", (0.0, 1.455, -0.012)),
        Bone("head", "neck", (0.0, 1.545, 0.004)),
        Bone("collar_l", "upper_chest", (0.030, 1.410, -0.010)),
        Bone("upper_arm_l", "collar_l", SHOULDER),
        Bone("forearm_l", "upper_arm_l", ELBOW),
        Bone("hand_l", "forearm_l", WRIST),
        Bone("thigh_l", "hips", HIP),
        Bone("shin_l", "thigh_l", KNEE),
        Bone("foot_l", "shin_l", ANKLE),
        Bone("toes_l", "foot_l", BALL),
    ]
)


def along(start: Point, end: Point, share: float, forward: float = 0.0) -> Point:
    """The point between two others, moved forward."""
    x, y, z = (a + share * (b - a) for a, b in zip(start, end))
    return (x, y, z + forward)


JACKET = (
    Flesh("hips", (0.0, 0.985, -0.004), (0.0, 1.040, -0.006), (0.112, 0.108), (1.45, 1.0, 1.0)),
    Flesh("spine", (0.0, 1.060, -0.006), (0.0, 1.170, -0.006), (0.104, 0.108), (1.40, 1.0, 1.0), 0.06),
    Flesh("chest", (0.0, 1.180, -0.006), (0.0, 1.290, -0.006), (0.110, 0.118), (1.42, 1.0, 1.0), 0.06),
    Flesh("upper_chest", (0.0, 1.300, -0.008), (0.0, 1.350, -0.012), (0.118, 0.100), (1.40, 1.0, 1.0), 0.06),
    Flesh("collar_l", (0.040, 1.405, -0.014), (0.148, 1.378, -0.016), (0.062, 0.064), (1.0, 1.0, 1.0), 0.05),
    Flesh("upper_chest", (0.0, 1.420, -0.012), (0.0, 1.450, -0.011), (0.072, 0.064), (1.05, 1.0, 1.0), 0.04),
    Flesh("upper_arm_l", (0.168, 1.384, -0.016), along(SHOULDER, ELBOW, 0.5), (0.062, 0.054), (1.0, 1.0, 1.0), 0.035),
    Flesh("upper_arm_l", along(SHOULDER, ELBOW, 0.5), ELBOW, (0.054, 0.047), (1.0, 1.0, 1.0), 0.01),
    Flesh("forearm_l", ELBOW, along(ELBOW, WRIST, 0.35), (0.048, 0.049), (1.0, 1.0, 1.0), 0.01),
    Flesh("forearm_l", along(ELBOW, WRIST, 0.35), along(ELBOW, WRIST, 0.93), (0.049, 0.036), (1.0, 1.0, 1.0), 0.01),
)

TROUSERS = (
    Flesh("hips", (0.0, 0.955, -0.006), (0.0, 1.000, -0.006), (0.112, 0.104), (1.38, 1.0, 1.0)),
    Flesh("hips", (0.070, 0.915, -0.040), (0.062, 0.940, -0.040), (0.084, 0.080), (1.0, 1.0, 1.0), 0.05),
    Flesh("thigh_l", HIP, along(HIP, KNEE, 0.45, 0.008), (0.098, 0.082), (1.0, 1.0, 1.0), 0.03),
    Flesh("thigh_l", along(HIP, KNEE, 0.45, 0.008), KNEE, (0.082, 0.061), (1.0, 1.0, 1.0), 0.01),
    Flesh("shin_l", KNEE, along(KNEE, ANKLE, 0.35, -0.016), (0.060, 0.063), (1.0, 1.0, 1.0), 0.01),
    Flesh("shin_l", along(KNEE, ANKLE, 0.35, -0.016), along(KNEE, ANKLE, 0.80), (0.063, 0.047), (1.0, 1.0, 1.0), 0.01),
)

BOOTS = (
    Flesh("shin_l", along(KNEE, ANKLE, 0.68, -0.004), along(KNEE, ANKLE, 0.93), (0.061, 0.050)),
    Flesh("foot_l", (0.106, 0.088, -0.032), (0.106, 0.042, -0.050), (0.050, 0.049), (0.92, 1.0, 1.0), 0.02),
    Flesh("foot_l", (0.106, 0.078, -0.010), (0.115, 0.036, 0.090), (0.046, 0.042), (0.98, 1.0, 1.0), 0.03),
    Flesh("toes_l", (0.115, 0.032, 0.100), (0.119, 0.022, 0.165), (0.044, 0.036), (1.05, 1.0, 1.0), 0.02),
)

PALM, KNUCKLE = along(ELBOW, WRIST, 1.06), along(ELBOW, WRIST, 1.28)
FINGERS = tuple(
    Flesh(
        "hand_l",
        (KNUCKLE[0] + 0.004, KNUCKLE[1], z),
        (KNUCKLE[0] + reach * 0.52, KNUCKLE[1] - reach * 0.85, z * 1.25),
        (0.0115, 0.0085),
        (1.0, 1.0, 1.0),
        0.006,
    )
    for z, reach in ((0.036, 0.070), (0.012, 0.080), (-0.012, 0.074), (-0.035, 0.058))
)
HANDS = (
    Flesh("forearm_l", along(ELBOW, WRIST, 0.86), WRIST, (0.027, 0.026)),
    Flesh("hand_l", PALM, KNUCKLE, (0.024, 0.022), (0.75, 0.75, 1.7), 0.02),
    *FINGERS,
    Flesh("hand_l", along(PALM, KNUCKLE, 0.15, 0.024), along(PALM, KNUCKLE, 0.95, 0.068), (0.016, 0.010), (1.0, 1.0, 1.0), 0.012),
)

HEAD = (
    Flesh("neck", (0.0, 1.430, -0.014), (0.0, 1.560, 0.002), (0.056, 0.052), (1.0, 1.0, 1.0)),
    Flesh("head", (0.0, 1.655, -0.004), (0.0, 1.645, 0.020), (0.092, 0.088), (0.86, 1.05, 1.0), 0.03),
    Flesh("head", (0.0, 1.610, 0.034), (0.0, 1.558, 0.056), (0.066, 0.044), (0.95, 1.0, 1.0), 0.03),
    Flesh("head", (0.0, 1.548, 0.074), (0.0, 1.548, 0.074), (0.022, 0.022), (1.2, 1.0, 1.0), 0.02),
    Flesh("head", (0.0, 1.644, 0.100), (0.0, 1.612, 0.115), (0.010, 0.013), (1.0, 1.0, 1.0), 0.014),
    Flesh("head", (0.040, 1.660, 0.080), (0.014, 1.662, 0.094), (0.011, 0.010), (1.0, 1.0, 1.0), 0.012),
    Flesh("head", (0.080, 1.640, 0.000), (0.086, 1.606, 0.002), (0.018, 0.011), (0.55, 1.0, 0.8), 0.008),
)


def hem(points: Array) -> Array:
    """Negative where the jacket is: above the belt's lower edge."""
    return np.asarray(0.968 - points[:, 1])


def face(points: Array) -> Array:
    """Negative where hair may grow: above and behind a sloping line from brow to nape."""
    return np.asarray(0.9 * (points[:, 2] - 0.074) + 0.62 * (1.690 - points[:, 1]) * (points[:, 2] > -1.0))


HAIR = (
    Flesh("head", (0.0, 1.668, -0.014), (0.0, 1.664, 0.014), (0.102, 0.094), (0.88, 1.0, 1.0)),
    Flesh("head", (0.0, 1.630, -0.034), (0.0, 1.575, -0.044), (0.080, 0.058), (0.95, 1.0, 1.0), 0.03),
    Flesh("head", (0.020, 1.742, 0.040), (-0.036, 1.742, 0.060), (0.030, 0.022), (1.0, 1.0, 1.0), 0.02),
)
EYES = (Flesh("head", (0.033, 1.640, 0.088), (0.033, 1.640, 0.088), (0.016, 0.016), (1.15, 0.9, 1.0)),)
PUPILS = (Flesh("head", (0.0335, 1.640, 0.1005), (0.0335, 1.640, 0.1005), (0.0078, 0.0078), (1.0, 1.1, 0.7)),)
BROWS = (Flesh("head", (0.048, 1.662, 0.085), (0.020, 1.667, 0.1005), (0.0055, 0.0070)),)
LIPS = (Flesh("head", (0.0, 1.5790, 0.0960), (0.0, 1.5790, 0.0960), (0.0095, 0.0095), (2.3, 0.62, 1.0)),)
BELT = (Flesh("hips", (0.0, 0.972, -0.005), (0.0, 0.994, -0.007), (0.120, 0.120), (1.42, 0.16, 1.0)),)
COLLAR = (Flesh("neck", (0.0, 1.456, -0.014), (0.0, 1.484, -0.011), (0.070, 0.066), (1.05, 0.16, 1.0)),)
BUCKLE = (Flesh("hips", (-0.018, 0.983, 0.112), (0.018, 0.983, 0.112), (0.018, 0.018), (1.0, 1.0, 0.6)),)


PARTS = (
    Part("jacket", "jacket", JACKET, 0.0145, 400, cut=hem),
    Part("trousers", "trousers", TROUSERS, 0.0145, 300),
    Part("boots", "boots", BOOTS, 0.0105, 180, sole=True),
    Part("hands", "skin", HANDS, 0.0055, 200),
    Part("head", "skin", HEAD, 0.0085, 250),
    Part("hair", "hair", HAIR, 0.0095, 115, cut=face),
    Part("brows", "hair", BROWS, 0.004, 20),
    Part("eyes", "white", EYES, 0.006, 44),
    Part("pupils", "iris", PUPILS, 0.004, 28),
    Part("lips", "lips", LIPS, 0.005, 24),
    Part("collar", "collar", COLLAR, 0.008, 60),
    Part("belt", "belt", BELT, 0.008, 80),
    Part("buckle", "brass", BUCKLE, 0.008, 24),
)

COLOURS = (
    Colour("jacket", (0.42, 0.055, 0.045)),
    Colour("collar", (0.30, 0.035, 0.030)),
    Colour("trousers", (0.045, 0.075, 0.16)),
    Colour("boots", (0.085, 0.040, 0.020), 0.6),
    Colour("skin", (0.62, 0.34, 0.23), 0.6),
    Colour("hair", (0.055, 0.028, 0.014), 0.7),
    Colour("white", (0.85, 0.85, 0.83), 0.2),
    Colour("iris", (0.025, 0.035, 0.05), 0.2),
    Colour("lips", (0.42, 0.13, 0.10), 0.5),
    Colour("belt", (0.030, 0.020, 0.014), 0.6),
    Colour("brass", (0.55, 0.38, 0.12), 0.4),
)


def limb(side: str, *stems: str) -> list[str]:
    return [f"{stem}_{side}" for stem in stems]


LABELS: dict[str, object] = {
    "kind": "humanoid",
    "facing": "+Z",
    "skin": 0,
    "pelvis": "hips",
    "groups": {
        "torso": ["hips", "spine", "chest", "upper_chest"],
        "neck_head": ["neck", "head"],
        "left_arm": limb("l", "collar", "upper_arm", "forearm", "hand"),
        "right_arm": limb("r", "collar", "upper_arm", "forearm", "hand"),
        "left_leg": limb("l", "thigh", "shin", "foot", "toes"),
        "right_leg": limb("r", "thigh", "shin", "foot", "toes"),
    },
    "not_anatomy": [],
}

BIPED = Character("biped", BONES, PARTS, COLOURS, LABELS)

if __name__ == "__main__":
    save(BIPED, Path(__file__).parent)

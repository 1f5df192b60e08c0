"""The ground of a picture: its line, marks that move with the travel, and dots under planted feet."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from akd_sdk.gait.contacts import find_contacts
from akd_sdk.gait.feet import contact_paths
from akd_sdk.kinematics import world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig
from akd_sdk.sheet.framing import Framing

Array = NDArray[np.float64]
Floats = NDArray[np.float32]

BACKGROUND, GROUND, LINE, MARK = (226, 229, 234), (210, 210, 207), (105, 105, 103), (150, 150, 147)
LEFT, RIGHT = (230, 110, 20), (35, 100, 215)
"""Dots under planted feet of the character's left and right."""


@dataclass(frozen=True)
class Canvas:
    """A picture's place in the world: `rows` (3, 3) right, up, towards the viewer; `centre` (3,) is drawn at pixel `origin`;
    `scale` pixels a metre."""

    size: tuple[int, int]
    rows: Array
    centre: Array
    origin: tuple[float, float]
    scale: float

    def place(self, points: Array | Floats) -> Array:
        """(n, 3): x right and y down in pixels, z towards the viewer in metres."""
        seen = (np.asarray(points, dtype=np.float64) - self.centre) @ self.rows.T
        return np.stack([self.origin[0] + self.scale * seen[..., 0], self.origin[1] - self.scale * seen[..., 1], seen[..., 2]], axis=-1)

    @property
    def level(self) -> bool:
        """The ground is seen edge-on."""
        return abs(float(self.rows[1, 1])) > 1.0 - 1e-9


def planted_points(rig: Rig, motion: Motion, framing: Framing) -> list[list[tuple[Array, bool]]]:
    """For each moment the planted contact points, put down on the ground, and whether they are left ones; found where the motion does
    not say."""
    points = rig.contact_points
    if not points:
        return [[] for _ in framing.frames]
    paths = contact_paths(rig, world_from_motion(rig.skeleton, motion)[framing.frames])
    paths[..., 1] = framing.centres[:, None, 1]
    contacts = motion.contacts
    if contacts is None or contacts.shape[1] != len(points):
        contacts = find_contacts(rig, motion)
    planted = contacts[framing.frames]
    return [
        [(paths[moment, k], point.limb.startswith("L")) for k, point in enumerate(points) if planted[moment, k]]
        for moment in range(len(framing.frames))
    ]


def draw_ground(canvas: Canvas, framing: Framing, moment: int, half_width: float) -> NDArray[np.uint8]:
    """(h, w, 3) the empty stage: ground, its line below the character, and marks every `framing.tick` metres of the world."""
    height, width = canvas.size
    image = Image.new("RGB", (width, height), BACKGROUND)
    pen = ImageDraw.Draw(image)
    across, _, forward = framing.heading(moment).T
    unit = max(2, height // 300)
    reach = width / canvas.scale
    if canvas.level:
        pen.rectangle((0, canvas.origin[1], width, height), fill=GROUND)
    else:
        corners = np.array([(-reach, -half_width), (reach, -half_width), (reach, half_width), (-reach, half_width)])
        strip = canvas.place(canvas.centre + corners @ np.stack([forward, across]))
        pen.polygon([(float(x), float(y)) for x, y, _ in strip], fill=GROUND)
    done = float(framing.passed[moment])
    for k in range(math.ceil((done - reach) / framing.tick), math.floor((done + reach) / framing.tick) + 1):
        long = k % 5 == 0
        at = canvas.centre + (k * framing.tick - done) * forward
        if canvas.level:
            x = float(canvas.place(at)[0])
            ends = (x, canvas.origin[1], x, canvas.origin[1] + (11 if long else 6) * unit)
        else:
            side = half_width * (1.0 if long else 0.75)
            a, b = canvas.place(at - side * across), canvas.place(at + side * across)
            ends = (a[0], a[1], b[0], b[1])
        pen.line(ends, LINE if long else MARK, (2 if long else 1) * unit)
    if canvas.level:
        pen.rectangle((0, canvas.origin[1], width, canvas.origin[1] + 2 * unit - 1), fill=LINE)
    else:
        (a, b, _), (c, d, _) = canvas.place(canvas.centre + np.array([[-reach], [reach]]) * forward)
        pen.line((a, b, c, d), MARK, unit)
    return np.asarray(image)


def draw_contacts(image: Image.Image, canvas: Canvas, planted: list[tuple[Array, bool]]) -> None:
    """A dot just below each planted contact point."""
    pen = ImageDraw.Draw(image)
    radius = max(4.0, canvas.size[0] / 65.0)
    for point, left in sorted(planted, key=lambda item: float(canvas.place(item[0])[2])):
        x, y, _ = canvas.place(point)
        y += radius + 1.0
        box = (x - radius, y - radius, x + radius, y + radius)
        pen.ellipse(box, fill=LEFT if left else RIGHT, outline=(255, 255, 255), width=max(1, int(radius / 4)))

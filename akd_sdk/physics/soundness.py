"""Soundness: an articulation whose numbers no simulation can use is told by its body, before it is built."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from akd_sdk.bodies import Articulation, Body
from akd_sdk.errors import PhysicsError

LARGEST = 1e30
"""Of gains, masses and moments: models are built in single precision."""
HINT = "make it as articulate does"


def check_sound(articulation: Articulation) -> None:
    """Refuse gains, masses, moments, limits and shapes that are none.

    Raises PhysicsError, naming the character, the body, what is wrong with it and the number.
    """
    for fault in (*_gain_faults(articulation), *(f for body in articulation.bodies for f in _body_faults(body))):
        raise PhysicsError(fault, articulation.name, HINT)


def _gain_faults(articulation: Articulation) -> Iterator[str]:
    bodies = articulation.bodies
    gains = {"stiffness": articulation.stiffness, "damping": articulation.damping, "armature": articulation.armature}
    for name, values in gains.items():
        if np.shape(values) != (len(bodies), 3):
            yield f"{name} is an array of {np.shape(values)} for {len(bodies)} bodies of three hinges each"
            continue
        for body, own in zip(bodies[1:], values[1:]):
            for value in own:
                if not 0.0 <= value <= LARGEST:
                    yield f"{name} of {body.name} is {value:g}, not a number from 0 to {LARGEST:g}"
                elif name == "stiffness" and value == 0.0:
                    yield f"stiffness of {body.name} is 0: nothing would drive its joint"


def _body_faults(body: Body) -> Iterator[str]:
    if not 0.0 < body.mass <= LARGEST:
        yield f"the mass of {body.name} is {body.mass:g} kg"
    shape, limits = body.shape, np.asarray(body.limits)
    places = (
        ("origin", body.origin),
        ("centre of mass", body.centre),
        ("collider's centre", shape.centre),
        ("collider's axes", shape.axes),
    )
    yield from (f"the {what} of {body.name} is not finite" for what, value in places if not np.isfinite(value).all())
    if not (np.isfinite(body.inertia).all() and 0.0 < np.linalg.eigvalsh(body.inertia)[0] <= LARGEST):
        yield f"{body.name} has no moments of inertia above 0"
    if not (limits[:, 0] <= limits[:, 1]).all():
        yield f"the limits of {body.name} are not lowest and highest angles"
    if shape.kind not in ("box", "capsule"):
        yield f"the collider of {body.name} is a {shape.kind!r}, neither box nor capsule"
    half = np.asarray(shape.half)
    least = half if shape.kind == "box" else half[:1]
    if not (np.isfinite(half).all() and (half >= 0.0).all() and (least > 0.0).all()):
        yield f"the collider of {body.name} has a size of {', '.join(f'{size:g}' for size in half)} m"

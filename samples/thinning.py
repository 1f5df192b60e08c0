"""Fewer triangles: edges are collapsed where the surface changes least (quadric error), the seam x = 0 stays a seam.

Plain floats, no arrays: the same on every processor, to the last bit.
"""

from __future__ import annotations

import heapq
from math import sqrt

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Vector = tuple[float, float, float]
Quadric = tuple[float, ...]
"""xx, xy, xz, yy, yz, zz of the normal, then its x, y, z times the offset, then the offset squared; by area."""

EVENNESS = 2e-3
"""How much long edges count beside the change of surface: even triangles bend better than slivers."""
PULL = 1e-2
"""How much a new point keeps to the middle of its edge where the surface does not say where it should be."""
COST_STEPS = 1e14
"""Costs are compared in these steps, so that equal ones are equal, and the order of points decides."""


def cross(a: Vector, b: Vector, c: Vector) -> Vector:
    ux, uy, uz, vx, vy, vz = b[0] - a[0], b[1] - a[1], b[2] - a[2], c[0] - a[0], c[1] - a[1], c[2] - a[2]
    return (uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx)


def quadric_of(a: Vector, b: Vector, c: Vector) -> Quadric:
    x, y, z = cross(a, b, c)
    area = sqrt(x * x + y * y + z * z)
    if area < 1e-15:
        return (0.0,) * 10
    x, y, z = x / area, y / area, z / area
    d = -(x * a[0] + y * a[1] + z * a[2])
    return tuple(area * v for v in (x * x, x * y, x * z, y * y, y * z, z * z, x * d, y * d, z * d, d * d))


def error(q: Quadric, p: Vector) -> float:
    x, y, z = p
    bent = q[0] * x * x + q[3] * y * y + q[5] * z * z + 2.0 * (q[1] * x * y + q[2] * x * z + q[4] * y * z)
    return bent + 2.0 * (q[6] * x + q[7] * y + q[8] * z) + q[9]


def best_place(q: Quadric, middle: Vector) -> Vector:
    """Where the error is least, with a pull towards `middle`: a symmetric 3 x 3 system by Cramer's rule."""
    pull = PULL * (q[0] + q[3] + q[5]) + 1e-18
    a, b, c, d, e, f = q[0] + pull, q[1], q[2], q[3] + pull, q[4], q[5] + pull
    x, y, z = (pull * m - g for m, g in zip(middle, q[6:9]))
    aa, bb, cc = d * f - e * e, c * e - b * f, b * e - c * d
    det = a * aa + b * bb + c * cc
    dd, ee, ff = a * f - c * c, b * c - a * e, a * d - b * b
    return ((aa * x + bb * y + cc * z) / det, (bb * x + dd * y + ee * z) / det, (cc * x + ee * y + ff * z) / det)


class Thinner:
    """A mesh that loses one point at a time."""

    def __init__(self, points: Array, triangles: Ints) -> None:
        self.points: list[Vector] = [(float(x), float(y), float(z)) for x, y, z in points]
        self.seam = [p[0] == 0.0 for p in self.points]
        self.faces: dict[int, tuple[int, int, int]] = {f: (int(a), int(b), int(c)) for f, (a, b, c) in enumerate(triangles)}
        self.around: list[set[int]] = [set() for _ in self.points]
        self.quadrics: list[Quadric] = [(0.0,) * 10 for _ in self.points]
        for f, face in self.faces.items():
            a, b, c = (self.points[p] for p in face)
            plane = quadric_of(a, b, c)
            for p in face:
                self.around[p].add(f)
                self.quadrics[p] = tuple(u + v for u, v in zip(self.quadrics[p], plane))
        self.alive = [True] * len(self.points)
        self.version = [0] * len(self.points)
        self.queue: list[tuple[int, int, int, int, int]] = []

    def neighbours(self, p: int) -> set[int]:
        return {q for f in self.around[p] for q in self.faces[f]} - {p}

    def place(self, p: int, q: int) -> tuple[Vector, float]:
        """Where the point goes that replaces `p` and `q`, and what that costs."""
        a, b = self.points[p], self.points[q]
        quadric = tuple(u + v for u, v in zip(self.quadrics[p], self.quadrics[q]))
        if self.seam[p] != self.seam[q]:
            place = a if self.seam[p] else b
        else:
            place = best_place(quadric, (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])))
            if self.seam[p]:
                place = (0.0, place[1], place[2])
        square = (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2
        return place, error(quadric, place) + EVENNESS * square * square

    def offer(self, p: int, q: int) -> None:
        p, q = min(p, q), max(p, q)
        if self.seam[p] and self.seam[q] and len(self.around[p] & self.around[q]) != 1:
            return
        _, cost = self.place(p, q)
        heapq.heappush(self.queue, (round(cost * COST_STEPS), p, q, self.version[p], self.version[q]))

    def folds(self, p: int, q: int, place: Vector, faces: set[int]) -> bool:
        """Whether a face would turn by more than some 70 degrees."""
        for f in faces:
            face = self.faces[f]
            a, b, c = (self.points[i] for i in face)
            u = cross(a, b, c)
            a, b, c = (place if i in (p, q) else self.points[i] for i in face)
            v = cross(a, b, c)
            along = u[0] * v[0] + u[1] * v[1] + u[2] * v[2]
            if along < 0.3 * sqrt((u[0] ** 2 + u[1] ** 2 + u[2] ** 2) * (v[0] ** 2 + v[1] ** 2 + v[2] ** 2)):
                return True
        return False

    def collapse(self, p: int, q: int) -> bool:
        """`q` melts into `p`, unless that would fold the surface or change how it hangs together."""
        shared = self.around[p] & self.around[q]
        if len(self.neighbours(p) & self.neighbours(q)) != len(shared):
            return False
        place, _ = self.place(p, q)
        if self.folds(p, q, place, (self.around[p] | self.around[q]) - shared):
            return False
        for f in shared:
            for i in self.faces.pop(f):
                self.around[i].discard(f)
        for f in self.around[q]:
            a, b, c = (p if i == q else i for i in self.faces[f])
            self.faces[f] = (a, b, c)
        self.around[p] |= self.around[q]
        self.around[q] = set()
        self.points[p] = place
        self.quadrics[p] = tuple(u + v for u, v in zip(self.quadrics[p], self.quadrics[q]))
        self.seam[p] = self.seam[p] or self.seam[q]
        self.alive[q] = False
        return True

    def thin(self, count: int) -> None:
        """Collapses until `count` points are left, or nothing more can go."""
        for a, b, c in self.faces.values():
            for p, q in ((a, b), (b, c), (c, a)):
                if p < q or (self.seam[p] and self.seam[q]):
                    self.offer(p, q)
        left = sum(self.alive)
        while self.queue and left > count:
            _, p, q, at, since = heapq.heappop(self.queue)
            if self.alive[p] and self.alive[q] and (at, since) == (self.version[p], self.version[q]) and self.collapse(p, q):
                left -= 1
                self.version[p] += 1
                for i in sorted(self.neighbours(p)):
                    self.offer(p, i)


def thin(points: Array, triangles: Ints, count: int) -> tuple[Array, Ints]:
    """The mesh with about `count` points; the order of what is left is kept."""
    mesh = Thinner(points, triangles)
    mesh.thin(count)
    alive = np.array(mesh.alive)
    number = np.cumsum(alive) - 1
    faces = np.array([mesh.faces[f] for f in sorted(mesh.faces)], dtype=np.int64)
    return np.array(mesh.points)[alive], number[faces]

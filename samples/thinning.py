"""Fewer triangles: edges are collapsed where the surface changes least (quadric error), the seam x = 0 stays a seam."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

EVENNESS = 2e-3
"""How much long edges count beside the change of surface: even triangles bend better than slivers."""


class Thinner:
    """A mesh that loses one point at a time."""

    def __init__(self, points: Array, triangles: Ints) -> None:
        self.points = points.copy()
        self.seam = points[:, 0] == 0.0
        self.faces: dict[int, tuple[int, int, int]] = {f: (int(a), int(b), int(c)) for f, (a, b, c) in enumerate(triangles)}
        self.around: list[set[int]] = [set() for _ in points]
        for f, face in self.faces.items():
            for p in face:
                self.around[p].add(f)
        self.quadrics = self._quadrics(triangles)
        self.alive = np.ones(len(points), dtype=bool)
        self.version = [0] * len(points)
        self.queue: list[tuple[float, int, int, int, int]] = []

    def _quadrics(self, triangles: Ints) -> Array:
        """(points, 4, 4): squared distance to the planes of the triangles around, by area."""
        a, b, c = (self.points[triangles[:, i]] for i in range(3))
        cross = np.cross(b - a, c - a)
        area = np.linalg.norm(cross, axis=1)
        normal = cross / np.maximum(area, 1e-15)[:, None]
        plane = np.concatenate([normal, -(normal * a).sum(axis=1)[:, None]], axis=1)
        each = area[:, None, None] * plane[:, :, None] * plane[:, None, :]
        quadrics = np.zeros((len(self.points), 4, 4))
        for i in range(3):
            np.add.at(quadrics, triangles[:, i], each)
        return quadrics

    def neighbours(self, p: int) -> set[int]:
        return {q for f in self.around[p] for q in self.faces[f]} - {p}

    def place(self, p: int, q: int) -> Array:
        """Where the point goes that replaces `p` and `q`."""
        if self.seam[p] != self.seam[q]:
            return self.points[p] if self.seam[p] else self.points[q]
        middle = 0.5 * (self.points[p] + self.points[q])
        quadric = self.quadrics[p] + self.quadrics[q]
        pull = 1e-2 * np.trace(quadric[:3, :3])
        best = np.linalg.solve(quadric[:3, :3] + pull * np.eye(3), pull * middle - quadric[:3, 3])
        if self.seam[p]:
            best[0] = 0.0
        return np.asarray(best)

    def offer(self, p: int, q: int) -> None:
        p, q = min(p, q), max(p, q)
        if self.seam[p] and self.seam[q] and len(self.around[p] & self.around[q]) != 1:
            return
        place = np.append(self.place(p, q), 1.0)
        length = float(((self.points[p] - self.points[q]) ** 2).sum())
        cost = float(place @ (self.quadrics[p] + self.quadrics[q]) @ place) + EVENNESS * length * length
        heapq.heappush(self.queue, (round(cost * 1e14), p, q, self.version[p], self.version[q]))

    def collapse(self, p: int, q: int) -> bool:
        """`q` melts into `p`, unless that would fold the surface or change how it hangs together."""
        shared = self.around[p] & self.around[q]
        if len(self.neighbours(p) & self.neighbours(q)) != len(shared):
            return False
        place = self.place(p, q)
        rest = (self.around[p] | self.around[q]) - shared
        for f in rest:
            old = self.points[list(self.faces[f])]
            new = np.array([place if i in (p, q) else self.points[i] for i in self.faces[f]])
            before, after = (np.cross(t[1] - t[0], t[2] - t[0]) for t in (old, new))
            if before @ after < 0.3 * np.linalg.norm(before) * np.linalg.norm(after):
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
        self.quadrics[p] += self.quadrics[q]
        self.seam[p] |= self.seam[q]
        self.alive[q] = False
        return True

    def thin(self, count: int) -> None:
        """Collapses until `count` points are left, or nothing more can go."""
        for a, b, c in self.faces.values():
            for p, q in ((a, b), (b, c), (c, a)):
                if p < q or (self.seam[p] and self.seam[q]):
                    self.offer(p, q)
        left = int(self.alive.sum())
        while self.queue and left > count:
            _, p, q, at, since = heapq.heappop(self.queue)
            if not (self.alive[p] and self.alive[q]) or (at, since) != (self.version[p], self.version[q]):
                continue
            if self.collapse(p, q):
                left -= 1
                self.version[p] += 1
                for i in sorted(self.neighbours(p)):
                    self.offer(p, i)


def thin(points: Array, triangles: Ints, count: int) -> tuple[Array, Ints]:
    """The mesh with about `count` points; the order of what is left is kept."""
    mesh = Thinner(points, triangles)
    mesh.thin(count)
    number = np.cumsum(mesh.alive) - 1
    faces = np.array([mesh.faces[f] for f in sorted(mesh.faces)], dtype=np.int64)
    return mesh.points[mesh.alive], number[faces]

"""State: a plan's values and how they play, in arrays that the compiled kernels share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from akd_sdk.exporters.reduction.compiled import indices, launch, shared
from akd_sdk.exporters.reduction.levers import Levers
from akd_sdk.exporters.reduction.options import ReductionOptions
from akd_sdk.exporters.reduction.plan import Group, Plan, every, pinned_frames, spread
from akd_sdk.exporters.reduction.stored import as_float32, as_int16
from akd_sdk.exporters.reduction.truth import Keys
from akd_sdk.exporters.reduction.work import PATHS, SHELL_M, Work

Array = NDArray[np.float64]
Ints = NDArray[np.int32]


class Grid:
    """Samples of the clip, `sub` a frame, under one player: its true world pose and that of a plan."""

    def __init__(self, work: Work, sub: int, nlerp: bool, axes: Array | None = None, places: Array | None = None) -> None:
        self.sub, self.nlerp = sub, nlerp
        self.samples = (work.frames - 1) * sub + 1
        shape = (self.samples, work.joints)
        self.moves = np.tile(work.rest[0], (self.samples, 1, 1))
        self.turns = np.tile(work.rest[1], (self.samples, 1, 1))
        self.grows = np.tile(work.rest[2], (self.samples, 1, 1))
        self.axes, self.places = np.zeros((*shape, 3, 3)), np.zeros((*shape, 3))
        self.true_axes = np.zeros((*shape, 3, 3)) if axes is None else np.ascontiguousarray(axes)
        self.true_places = np.zeros((*shape, 3)) if places is None else np.ascontiguousarray(places)
        self.error = np.zeros(shape)

    def reset(self, work: Work) -> None:
        """All joints at rest."""
        self.moves[:], self.turns[:], self.grows[:] = work.rest


class Stage:
    """What all plans for one clip share: the clip, its levers, what is asked, and grids to play on."""

    def __init__(self, module: ModuleType, work: Work, levers: Levers, options: ReductionOptions) -> None:
        self.module, self.work, self.levers, self.options = module, work, levers, options
        self.frames = Grid(work, 1, False, levers.axes, levers.places)
        self.finer = [Grid(work, 4, player == "nlerp") for player in options.players]
        self.under = np.zeros((work.joints, work.joints), dtype=np.int32)
        for j in range(work.joints):
            self.under[j, work.below[j]] = 1
        self.below = np.concatenate(work.below).astype(np.int32)
        self.below_at = np.append(0, np.cumsum([len(part) for part in work.below])).astype(np.int32)
        self.planted = np.ascontiguousarray(work.feet.planted, dtype=np.int32).reshape(len(work.feet.joint), work.frames)
        self.foot_weight = options.tolerance_m / options.feet_tolerance_m if options.feet_tolerance_m else 1.0
        self.feet = options.feet_tolerance_m is not None and work.feet.any
        if not self.feet:
            self.planted = np.zeros((0, work.frames), dtype=np.int32)
        self._play_truth()

    def _play_truth(self) -> None:
        """The dense clip on the finer grids."""
        whole = Plan([Group([i for i, line in enumerate(self.work.lines) if not line.held], every(self.work.frames))])
        whole.held = {i: every(self.work.frames) for i, line in enumerate(self.work.lines) if line.held}
        state = State(self, whole)
        for grid in self.finer:
            state.play(grid)
            grid.true_axes[:], grid.true_places[:] = grid.axes, grid.places


class State:
    """Values of a plan's tracks by frame, and which frames are knots."""

    def __init__(self, stage: Stage, plan: Plan) -> None:
        self.stage, self.plan = stage, plan
        work = stage.work
        self.tracks: list[int] = [*(i for group in plan.groups for i in group.lines), *sorted(plan.constants)]
        groups = [*plan.groups, *([Group(sorted(plan.constants), np.zeros(1, dtype=np.int32))] if plan.constants else [])]
        self.groups = groups
        count, frames = max(len(self.tracks), 1), work.frames
        self.row = {i: m for m, i in enumerate(self.tracks)}
        self.value = np.zeros((count, frames, 4))
        for m, i in enumerate(self.tracks):
            values = plan.constants.get(i, work.lines[i].values)
            self.value[m, :, : values.shape[-1]] = values
        self.backup = np.zeros_like(self.value)
        self.left = np.zeros((max(len(groups), 1), frames), dtype=np.int32)
        self.right = np.zeros_like(self.left)
        self.group = np.zeros(count, dtype=np.int32)
        for g, group in enumerate(groups):
            self.left[g], self.right[g] = spread(group.knots, frames)
            self.group[[self.row[i] for i in group.lines]] = g
        self.bits = np.zeros(count, dtype=np.int32)
        """Bits of meshopt's QUATERNION filter by track, 0: int16 or float32."""
        self.steps = np.zeros(count)
        """Step of translations (in the file's unit) and scales by track, 0: float32."""
        self.pinned = np.zeros((count, frames), dtype=np.int32)
        for group in plan.groups:
            for i in group.lines:
                self.pinned[self.row[i], pinned_frames(work, i)] = 1
        for m, i in enumerate(self.tracks):
            for f in np.flatnonzero(self.pinned[m]):
                self.value[m, f] = 0.0
                stored = self._stored(i, work.lines[i].values[[f]])[0]
                self.value[m, f, : len(stored)] = stored
        self.order = sorted(self.tracks, key=lambda i: (work.depth[work.lines[i].joint], i))
        self._fill_cores()

    def _fill_cores(self) -> None:
        stage, work = self.stage, self.stage.work
        lines = [work.lines[i] for i in self.tracks]
        touches = np.zeros((len(self.left), work.joints), dtype=np.int32)
        for m, line in enumerate(lines):
            touches[self.group[m]] |= stage.under[line.joint]
        members = [[self.row[i] for i in group.lines] for group in self.groups] or [[]]
        self._own = {
            "joint": indices([line.joint for line in lines] or [0]),
            "path": indices([PATHS.index(line.path) for line in lines] or [0]),
            "coarse": indices([int(i in self.plan.short) for i in self.tracks] or [0]),
            "bits": shared(self.bits),
            "steps": shared(self.steps),
            "group": shared(self.group),
            "pinned": shared(self.pinned),
            "value": shared(self.value, "vec4d"),
            "backup": shared(self.backup, "vec4d"),
            "left": shared(self.left),
            "right": shared(self.right),
            "member_at": indices(np.append(0, np.cumsum([len(part) for part in members]))),
            "member": indices([m for part in members for m in part] or [0]),
            "touches": shared(touches),
        }
        self.all_rows = indices(list(range(len(self.tracks))))
        self.sweep_rows = indices([self.row[i] for i in self.order])
        self.core = self.core_of(stage.frames)
        self.restart()

    def restart(self) -> None:
        """Plays everything on the frame grid, held tracks and all."""
        self.play(self.stage.frames)

    def core_of(self, grid: Grid) -> Any:  # Any: a Warp struct
        """The kernels' view of this state on a grid."""
        stage, work = self.stage, self.stage.work
        core = stage.module.Core()
        core.joints, core.frames, core.sub, core.rate = work.joints, work.frames, grid.sub, grid.sub * work.fps
        core.nlerp, core.unit, core.shell = int(grid.nlerp), work.unit, SHELL_M
        core.tolerance, core.foot_weight = stage.options.tolerance_m, stage.foot_weight
        for name, kind in (("moves", "vec3d"), ("turns", "quatd"), ("grows", "vec3d"), ("axes", "mat33d"), ("places", "vec3d")):
            setattr(core, name, shared(getattr(grid, name), kind))
        core.true_axes, core.true_places = shared(grid.true_axes, "mat33d"), shared(grid.true_places, "vec3d")
        core.error, core.time = shared(grid.error), shared(work.times)
        core.parents, core.below, core.below_at = shared(work.parents), shared(stage.below), shared(stage.below_at)
        core.under, core.planted = shared(stage.under), shared(stage.planted)
        feet = work.feet.joint if stage.feet else np.zeros(0, dtype=np.int32)
        core.foot = shared(np.ascontiguousarray(feet))
        core.foot_offset = shared(np.ascontiguousarray(work.feet.offset if stage.feet else np.zeros((0, 3))), "vec3d")
        n = work.frames
        self._scratch = (np.zeros((n, 3, 3)), np.zeros((n, 3, 3)), np.zeros((n + 1, 3)), np.zeros((n, 4)))
        core.diagonal, core.beside = shared(self._scratch[0], "mat33d"), shared(self._scratch[1], "mat33d")
        core.slope, core.trial = shared(self._scratch[2], "vec3d"), shared(self._scratch[3], "vec4d")
        for name, value in self._own.items():
            setattr(core, name, value)
        return core

    def play(self, grid: Grid) -> None:
        """Plays all tracks on a grid."""
        grid.reset(self.stage.work)
        frames = np.arange(grid.samples) // grid.sub
        for i, knots in self.plan.held.items():
            line = self.stage.work.lines[i]
            values = line.values[spread(knots, self.stage.work.frames)[0][frames]]
            if line.turns:
                values = values / np.linalg.norm(values, axis=1, keepdims=True)
            part = {"translation": grid.moves, "rotation": grid.turns, "scale": grid.grows}[line.path]
            part[:, line.joint] = values
        core = self.core if grid is self.stage.frames and hasattr(self, "core") else self.core_of(grid)
        launch(self.stage.module.pose, core, self.all_rows, 0, grid.samples - 1)

    def sweep(self, power: int, *, rounding: bool = False, rows: Sequence[int] | None = None) -> None:
        """One Newton step of every track's values, parents first; `rows`: of these alone. With `rounding` values are as a file holds
        them from then on, and children meet the rounded parents."""
        order = self.sweep_rows if rows is None else indices([m for m in map(self.row.__getitem__, self.order) if m in set(rows)])
        launch(self.stage.module.sweep, self.core, order, power, int(rounding))

    def errors(self) -> Array:
        """(frames, joints) error as a share of the tolerance, at frames."""
        launch(self.stage.module.errors, self.core, 0, self.stage.work.frames - 1)
        return self.stage.frames.error

    def finer_errors(self) -> Array:
        """(samples, joints) error as a share of the tolerance at four times the frame rate, the worst over players."""
        worst = np.zeros((1, 1))
        for grid in self.stage.finer:
            self.play(grid)
            launch(self.stage.module.errors, self.core_of(grid), 0, grid.samples - 1)
            worst = np.maximum(worst, grid.error)
        return worst

    def knots(self, g: int) -> Ints:
        """Frames that are knots of a group."""
        return np.unique(self.left[g])

    def snapshot(self) -> tuple[Array, Ints, Ints]:
        return self.value.copy(), self.left.copy(), self.right.copy()

    def restore(self, kept: tuple[Array, Ints, Ints]) -> None:
        self.value[:], self.left[:], self.right[:] = kept
        self.restart()

    def planned(self) -> Plan:
        """The plan with the knots as they are now."""
        groups = [Group(list(group.lines), self.knots(g)) for g, group in enumerate(self.plan.groups)]
        return Plan(groups, dict(self.plan.constants), list(self.plan.dropped), dict(self.plan.held), self.plan.short)

    def raw_keys(self) -> list[Keys | None]:
        """Keys of each line as they are, before any file rounds them; None: no track."""
        work = self.stage.work
        out: list[Keys | None] = [None] * len(work.lines)
        for m, i in enumerate(self.tracks):
            knots = self.knots(int(self.group[m]))
            out[i] = Keys(knots, self.value[m, knots, : work.lines[i].values.shape[1]].copy())
        for i, knots in self.plan.held.items():
            out[i] = Keys(knots, work.lines[i].values[knots], held=True)
        return out

    def keys(self) -> list[Keys | None]:
        """What a file gives back of each line; None: no track."""
        return [None if key is None else replace(key, values=self._stored(i, key.values)) for i, key in enumerate(self.raw_keys())]

    def _stored(self, i: int, values: Array) -> Array:
        line = self.stage.work.lines[i]
        if not line.turns:
            return as_float32(values, self.stage.work.unit if line.path == "translation" else 1.0)
        return as_int16(values) if i in self.plan.short else as_float32(values)

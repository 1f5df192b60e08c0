"""Search for the fewest compressed bytes: time lines, shared or in groups, and bits for every track from its lever arm."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError
from akd_sdk.exporters.clip import Clip, require_own
from akd_sdk.exporters.reduction.compiled import kernels
from akd_sdk.exporters.reduction.made import bytes_of, clip_of
from akd_sdk.exporters.reduction.meshopt.codec import EXTENSION, VERSIONS, library
from akd_sdk.exporters.reduction.meshopt.encoded import Encoded, Stored, encoded
from akd_sdk.exporters.reduction.meshopt.filters import MOST_BITS, step_exponent
from akd_sdk.exporters.reduction.meshopt.lower import FEWEST_BITS, lower_bits
from akd_sdk.exporters.reduction.options import ReductionOptions, ReductionReport
from akd_sdk.exporters.reduction.plan import Price
from akd_sdk.exporters.reduction.prune import prune
from akd_sdk.exporters.reduction.repair import repair
from akd_sdk.exporters.reduction.search import DEFAULT, REDUCED, TOO_FAR, Search, on_grid, report_of
from akd_sdk.exporters.reduction.state import State
from akd_sdk.exporters.reduction.truth import Measured, dense_keys
from akd_sdk.exporters.reduction.turns import WIDEST, split_turns, widest_turn
from akd_sdk.progress import Progress, ProgressCallback, ignore
from akd_sdk.rig import Rig

Array = NDArray[np.float64]
GROUPED = Price(time=2.4, turn=3.4, wide_turn=12.0, vector=6.5, line=30.0, channel=0.0)
"""Bytes that keys take when compressed, about; JSON does not count."""
SHARED = replace(GROUPED, line=1e7)
"""A price at which all tracks share one time line."""
AIM = 0.8
"""Share of the tolerance that fewer keys may take; rounding has the rest."""
PASSES = 3
COARSENESS = (0.02, 6.0)
"""Least and largest share of the tolerance that the rounding of one track alone may take."""
START = 0.7
BISECTIONS = 6


@dataclass(frozen=True)
class Compressed:
    """A clip's keys in compressed buffer views; `clip` is what players get. The report's bytes are those of the views, without JSON."""

    clip: Clip
    encoded: Encoded
    report: ReductionReport


@dataclass(frozen=True)
class Packed:
    """A compressed form within the tolerance."""

    encoded: Encoded
    measured: Measured
    form: str


@dataclass(frozen=True)
class Draft:
    """A state's values and knots as they were when they were packed so."""

    state: State
    kept: tuple[Array, NDArray[np.int32], NDArray[np.int32]]
    stored: dict[int, Stored]
    packed: Packed


TRIES: dict[str, tuple[tuple[float, Price], ...]] = {
    "fast": ((0.4, SHARED), (0.4, GROUPED)),
    "best": ((0.05, SHARED), (0.4, SHARED), (0.8, SHARED), (1.3, SHARED), (0.4, GROUPED), (0.9, GROUPED), (1.4, GROUPED)),
}
"""Budgets and prices tried."""
LOWERED = {"fast": 1, "best": 2}
"""How many of the smallest drafts have their bits lowered track by track."""


class Packer:
    """Compressed forms of one clip."""

    def __init__(self, search: Search, version: int) -> None:
        self.search, self.version = search, version
        self.tolerance = search.options.tolerance_m

    def best(self, progress: ProgressCallback = ignore) -> Packed:
        """The form with the fewest bytes."""
        tries = TRIES[self.search.options.effort]
        best = self.dense()
        drafts: list[Draft] = []
        for n, (factor, price) in enumerate(tries):
            progress(Progress("compressing", n / len(tries), self.search.clip.name))
            state = self.state(factor, price)
            draft = None if state is None else self.coarsest(state)
            if draft is not None:
                drafts.append(draft)
        drafts.sort(key=lambda draft: draft.packed.encoded.bytes)
        for draft in drafts[: LOWERED[self.search.options.effort]]:
            best = min(best, draft.packed, self.lowered(draft), key=lambda packed: packed.encoded.bytes)
        progress(Progress("compressing", 1.0, self.search.clip.name))
        return best

    def lowered(self, draft: Draft) -> Packed:
        """The draft with bits taken away where its error allows it."""
        state = draft.state
        for i in state.tracks:
            self._set(state, i, draft.stored[i])
        state.restore(draft.kept)
        stored = lower_bits(state, draft.stored)
        return (self.packed(state, stored) if state.finer_errors().max() <= 1.0 else None) or draft.packed

    def _set(self, state: State, i: int, stored: Stored) -> None:
        """How the state rounds a line."""
        row = state.row[i]
        state.bits[row] = max(stored.bits, 0)
        state.steps[row] = 0.0 if stored.exponent is None else 2.0**stored.exponent

    def dense(self) -> Packed:
        """The smallest dense form without a filter that keeps what was asked for."""
        found = self.search.dense()
        stored = {i: Stored(bits=0 if i in found.short else -1) for i, key in enumerate(found.keys) if key is not None}
        return Packed(encoded(self.search.work, found.keys, stored, self.version), found.measured, found.form)

    def state(self, factor: float, price: Price) -> State | None:
        """A state whose error leaves room for rounding; None where the budget was too wide to be repaired."""
        factors = np.full(len(self.search.work.lines), factor)
        state = State(self.search.stage, self.search.planner.plan(factors, self.search.turns, price))
        state.sweep(6)
        state.sweep(8)
        if state.errors().max() > TOO_FAR or not repair(state, price, AIM, 10):
            return None
        for _ in range(PASSES):
            if not prune(state, price, AIM):
                break
            state.sweep(8)
        split_turns(state)
        return state

    def coarsest(self, state: State) -> Draft | None:
        """The smallest storage that the state bears, all tracks rounded by the same share of the tolerance."""
        kept = state.snapshot()
        low, high = COARSENESS
        share, best = START, None
        for _ in range(BISECTIONS):
            state.restore(kept)
            stored = self.stored(state, share)
            self.coarsen(state, stored)
            packed = self.packed(state, stored) if state.finer_errors().max() <= 1.0 else None
            if packed is None:
                high = share
            else:
                low = share
                if best is None or packed.encoded.bytes < best.packed.encoded.bytes:
                    best = Draft(state, state.snapshot(), stored, packed)
            share = float(np.sqrt(low * high))
        return best

    def stored(self, state: State, share: float) -> dict[int, Stored]:
        """How each line is stored so that its rounding moves points by a share of the tolerance."""
        out: dict[int, Stored] = {}
        for i in [*state.tracks, *state.plan.held]:
            line, weights = self.search.work.lines[i], self.search.levers.weights[i]
            step = share * self.tolerance / float(weights.max())
            if line.turns:
                bits = int(np.ceil(np.log2(2.0 / step)))
                out[i] = Stored(bits=0 if bits > MOST_BITS else max(bits, FEWEST_BITS))
            else:
                unit = self.search.work.unit if line.path == "translation" else 1.0
                out[i] = Stored(exponent=step_exponent(1.4 * step / unit, float(np.abs(line.values).max()) / unit))
        return out

    def coarsen(self, state: State, stored: dict[int, Stored]) -> None:
        """The state's values rounded as they will be stored, each track set against what was rounded above it."""
        for i in state.tracks:
            self._set(state, i, stored[i])
        state.sweep(10, rounding=True)
        state.sweep(10, rounding=True)

    def packed(self, state: State, stored: dict[int, Stored]) -> Packed | None:
        """The state's encoding, if what decoders give back keeps what was asked for."""
        options = self.search.options
        pack = encoded(self.search.work, state.raw_keys(), stored, self.version)
        measured = self.search.judge.measure(pack.keys)
        feet, wanted = measured.feet, options.feet_tolerance_m
        if measured.worst > options.tolerance_m or (wanted is not None and feet is not None and feet > wanted):
            return None
        return None if widest_turn(self.search.work, pack.keys) > WIDEST else Packed(pack, measured, REDUCED)


def compress(
    rig: Rig, clip: Clip, options: ReductionOptions = DEFAULT, *, extension: str = EXTENSION, progress: ProgressCallback = ignore
) -> Compressed:
    """The clip's keys in as few bytes of compressed buffer views as the tolerance allows.

    Errors are measured on what decoders give back. Signs of the quaternions read back are the filter's own, not continuous: for
    players that take the shorter arc. extension: EXT_meshopt_compression, or KHR_meshopt_compression with its newer codec.
    Raises ExportError as `reduce` does and for an extension that is not known; BackendError: meshoptimizer is not installed.
    """
    if extension not in VERSIONS:
        raise ExportError(f"unknown extension {extension!r}", "meshopt", f"known: {', '.join(VERSIONS)}")
    require_own(rig, clip)
    library()
    grid = clip if options.grid_fps is None else on_grid(clip, options.grid_fps)
    search = Search(rig, grid, options, kernels(progress))
    packed = Packer(search, VERSIONS[extension]).best(progress)
    short = frozenset(channel.line for channel in packed.encoded.channels if channel.short)
    made = clip_of(rig, grid, search.work, list(packed.encoded.keys), short)
    whole = clip_of(rig, grid, search.work, list(dense_keys(search.work)), frozenset())
    size = (packed.encoded.bytes, 0)
    return Compressed(
        made, packed.encoded, report_of(clip, search.work, packed.measured, made, size, sum(bytes_of(rig, whole)), packed.form)
    )

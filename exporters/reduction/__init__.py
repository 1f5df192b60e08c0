"""Reduction: clips with fewer keys whose error is bounded in object space, on what a file gives back.

`reduce` is the whole of it; the parts: `work` (the clip in its file's space), `stored` (rounding), `levers`, `constants`, `groups` (how far
keys reach, and shared time lines), `planning`, `state` (values, refit), `repair`, `prune`, `dense`, `search`, `truth` (the measure).
"""

from akd_sdk.exporters.reduction.options import Reduced, ReductionOptions, ReductionReport
from akd_sdk.exporters.reduction.search import reduce

__all__ = ["Reduced", "ReductionOptions", "ReductionReport", "reduce"]

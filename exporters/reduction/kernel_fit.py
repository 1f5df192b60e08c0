"""Parts of the kernels: Newton steps of knot values on a p-norm of the object-space error."""
# mypy: ignore-errors
# Warp reads annotations and operators in a language of its own; `compiled` is the typed side.

import warp as wp

from akd_sdk.exporters.reduction.kernel_core import (
    HALF,
    ONE,
    SHORTS,
    TINY,
    TWO,
    ZERO,
    Core,
    as_quat,
    column,
    dot4,
    place_below,
    play,
    share,
)


@wp.func
def outer(a: wp.vec3d, b: wp.vec3d):
    return wp.outer(a, b)


@wp.func
def power(n: wp.float64, p: wp.int32):
    """The p-th power of a length whose square is n; p is even."""
    out = wp.float64(1.0)
    for _i in range(p // 2):
        out = out * n
    return out


@wp.func
def power_weight(n: wp.float64, p: wp.int32):
    """Weight of a point whose squared relative error is n in the p-norm, bounded where it is far off."""
    return power(wp.min(n, wp.float64(16.0)), p - 2) + wp.float64(1e-4)


@wp.func
def add_turn(arm: wp.vec3d, e: wp.vec3d, wt: wp.float64, p: wp.int32, h: wp.mat33d):
    c = wp.cross(arm, e * (ONE / wp.sqrt(wp.dot(e, e) + TINY)))
    unit = wp.identity(n=3, dtype=wp.float64)
    return h + (unit * wp.dot(arm, arm) - outer(arm, arm) + outer(c, c) * wp.float64(p - 2)) * wt


@wp.func
def add_shift(e: wp.vec3d, wt: wp.float64, p: wp.int32, h: wp.mat33d):
    n = e * (ONE / wp.sqrt(wp.dot(e, e) + TINY))
    return h + (wp.identity(n=3, dtype=wp.float64) + outer(n, n) * wp.float64(p - 2)) * wt


@wp.func
def curvature(core: Core, m: wp.int32, f: wp.int32, p: wp.int32, rows: wp.mat33d):
    """Second derivative (3, 3) of the error of all points under a track's joint at a frame; returned with the gradient in `slope`'s
    scratch place at `frames`."""
    j = core.joint[m]
    turn = core.path[m] == 1
    pivot = core.places[f, j]
    h = wp.mat33d()
    g = wp.vec3d()
    scale = ONE / (core.tolerance * core.tolerance)
    for i in range(core.below_at[j], core.below_at[j + 1]):
        d = core.below[i]
        gap = core.places[f, d] - core.true_places[f, d]
        arm0 = core.places[f, d] - pivot
        for k in range(3):
            true = column(core.true_axes[f, d], k)
            size = core.shell / (wp.length(true) + TINY)
            now = column(core.axes[f, d], k) * size
            e = gap + now - true * size
            wt = power_weight(wp.dot(e, e) * scale, p) * scale
            if turn:
                arm = arm0 + now
                h = add_turn(arm, e, wt, p, h)
                g = g + wp.cross(arm, e) * wt
            else:
                h = add_shift(e, wt, p, h)
                g = g + e * wt
    for c in range(core.foot.shape[0]):
        d = core.foot[c]
        if core.planted[c, f] != 0 and core.under[j, d] != 0:
            now = core.axes[f, d] * core.foot_offset[c]
            e = core.places[f, d] - core.true_places[f, d] + now - core.true_axes[f, d] * core.foot_offset[c]
            tight = scale * core.foot_weight * core.foot_weight
            wt = power_weight(wp.dot(e, e) * tight, p) * tight
            if turn:
                arm = core.places[f, d] - pivot + now
                h = add_turn(arm, e, wt, p, h)
                g = g + wp.cross(arm, e) * wt
            else:
                h = add_shift(e, wt, p, h)
                g = g + e * wt
    core.slope[core.frames] = wp.transpose(rows) * g
    return wp.transpose(rows) * h * rows


@wp.func
def parent_axes(core: Core, m: wp.int32, f: wp.int32):
    """What turns increments in the parent's frame into the world: its axes, without scale for rotations."""
    p = core.parents[core.joint[m]]
    rows = wp.identity(n=3, dtype=wp.float64)
    if p >= 0:
        rows = core.axes[f, p]
        if core.path[m] == 1:
            x = wp.normalize(column(rows, 0))
            y = wp.normalize(column(rows, 1))
            z = wp.normalize(column(rows, 2))
            rows = wp.mat33d(x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])
    return rows


@wp.func
def gather(core: Core, m: wp.int32, start: wp.int32, end: wp.int32, p: wp.int32):
    """The normal equations of a track's knots over frames start..end, by the knots' frames."""
    g = core.group[m]
    for f in range(start, end + 1):
        core.diagonal[f] = wp.mat33d()
        core.beside[f] = wp.mat33d()
        core.slope[f] = wp.vec3d()
    a0 = core.left[g, start]
    core.diagonal[a0] = wp.mat33d()
    core.beside[a0] = wp.mat33d()
    core.slope[a0] = wp.vec3d()
    for f in range(start, end + 1):
        a = core.left[g, f]
        b = core.right[g, f]
        u = share(core, f * core.sub, a, b)
        h = curvature(core, m, f, p, parent_axes(core, m, f))
        e = core.slope[core.frames]
        v = ONE - u
        core.diagonal[a] = core.diagonal[a] + h * (v * v)
        core.slope[a] = core.slope[a] + e * v
        if u > ZERO:
            core.diagonal[b] = core.diagonal[b] + h * (u * u)
            core.slope[b] = core.slope[b] + e * u
            core.beside[a] = core.beside[a] + h * (u * v)


@wp.func
def fixed(core: Core, m: wp.int32, f: wp.int32):
    """Whether a knot's value stays as it is: both ends of a loop, and turns so wide that what is between hangs on their last bits."""
    return core.pinned[m, f] != 0


@wp.func
def settle(core: Core, m: wp.int32, g: wp.int32, low: wp.int32, high: wp.int32):
    """Solves the block-tridiagonal equations of the knots low..high; the increments are left in `slope`."""
    trace = wp.float64(0.0)
    count = wp.float64(0.0)
    k = low
    while True:
        d = core.diagonal[k]
        trace = trace + d[0, 0] + d[1, 1] + d[2, 2]
        count = count + ONE
        if k >= high:
            break
        k = core.right[g, k]
    ridge = wp.identity(n=3, dtype=wp.float64) * (trace / count * wp.float64(3e-4) + wp.float64(1e-15))
    before = wp.int32(-1)
    k = low
    while True:
        d = core.diagonal[k] + ridge
        e = core.slope[k]
        if fixed(core, m, k):
            d = wp.identity(n=3, dtype=wp.float64)
            e = wp.vec3d()
            core.beside[k] = wp.mat33d()
            if before >= 0:
                core.beside[before] = wp.mat33d()
        if before >= 0:
            o = core.beside[before]
            t = wp.transpose(o) * core.diagonal[before]
            d = d - t * o
            e = e - t * core.slope[before]
        core.diagonal[k] = wp.inverse(d)
        core.slope[k] = e
        before = k
        if k >= high:
            break
        k = core.right[g, k]
    x = wp.vec3d()
    k = high
    while True:
        e = core.slope[k]
        if k < high:
            e = e - core.beside[k] * x
        x = core.diagonal[k] * e
        core.slope[k] = x
        if k <= low:
            break
        k = core.left[g, k - 1]


@wp.func
def largest(v: wp.vec4d):
    """Which component of a quaternion is the largest."""
    which = wp.int32(0)
    for i in range(1, 4):
        if wp.abs(v[i]) > wp.abs(v[which]):
            which = i
    return which


@wp.func
def whole(x: wp.float64):
    """The nearest whole number, halves away from zero."""
    return wp.sign(x) * wp.floor(wp.abs(x) + HALF)


@wp.func
def filtered(v: wp.vec4d, bits: wp.int32):
    """What meshopt's QUATERNION filter gives back of a unit quaternion with so many bits: int16, the largest component from the others."""
    top = largest(v)
    steps = wp.float64((1 << (bits - 1)) - 1)
    size = wp.sqrt(TWO)
    if v[top] < ZERO:
        size = -size
    out = wp.vec4d()
    left = SHORTS * SHORTS
    for i in range(1, 4):
        k = (top + i) % 4
        x = whole(wp.clamp(v[k] * size, -ONE, ONE) * steps) * (SHORTS / wp.sqrt(TWO) / steps)
        left = left - x * x
        out[k] = whole(x) / SHORTS
    out[top] = whole(wp.sqrt(wp.max(left, ZERO))) / SHORTS
    if dot4(out, v) < ZERO:
        out = -out
    return out


@wp.func
def rounded(core: Core, m: wp.int32, v: wp.vec4d):
    """What a file gives back of a value, not normalised: rotations by meshopt's filter with the track's bits, as int16 or as float32,
    vectors as multiples of the track's step or as float32."""
    out = v
    if core.path[m] == 1:
        if core.bits[m] != 0:
            out = filtered(filtered(v, core.bits[m]), core.bits[m])  # the second time what is read back stays as it is
        elif core.coarse[m] != 0:
            for i in range(4):
                out[i] = wp.clamp(wp.floor(v[i] * SHORTS + HALF), -SHORTS, SHORTS) / SHORTS
        else:
            for i in range(4):
                out[i] = wp.float64(wp.float32(v[i]))
    else:
        for i in range(3):
            unit = ONE
            if core.path[m] == 0:
                unit = core.unit
            if core.steps[m] > ZERO:
                out[i] = whole(v[i] / unit / core.steps[m]) * core.steps[m] * unit
            else:
                out[i] = wp.float64(wp.float32(v[i] / unit)) * unit
    return out


@wp.func
def moved(core: Core, m: wp.int32, v: wp.vec4d, x: wp.vec3d):
    """A value with an increment: a rotation vector in the parent's frame, at most 0.2 rad, or a shift."""
    out = v
    if core.path[m] == 1:
        size = wp.length(x)
        if size > wp.float64(0.2):
            x = x * (wp.float64(0.2) / size)
            size = wp.float64(0.2)
        h = x * HALF
        if size > wp.float64(1e-9):
            h = x * (wp.sin(size * HALF) / size)
        q = wp.quatd(h[0], h[1], h[2], wp.cos(size * HALF)) * as_quat(v)
        out = wp.normalize(wp.vec4d(q[0], q[1], q[2], q[3]))
    else:
        out = wp.vec4d(v[0] + x[0], v[1] + x[1], v[2] + x[2], ZERO)
    return out


@wp.func
def objective(core: Core, j: wp.int32, start: wp.int32, end: wp.int32, p: wp.int32):
    """The sum over frames start..end and all points under joint j of the p-th power of the error as a share of what it may be."""
    total = wp.float64(0.0)
    scale = ONE / (core.tolerance * core.tolerance)
    for f in range(start, end + 1):
        for i in range(core.below_at[j], core.below_at[j + 1]):
            d = core.below[i]
            gap = core.places[f, d] - core.true_places[f, d]
            for k in range(3):
                true = column(core.true_axes[f, d], k)
                e = gap + (column(core.axes[f, d], k) - true) * (core.shell / (wp.length(true) + TINY))
                total = total + power(wp.dot(e, e) * scale, p)
        for c in range(core.foot.shape[0]):
            d = core.foot[c]
            if core.planted[c, f] != 0 and core.under[j, d] != 0:
                e = core.places[f, d] - core.true_places[f, d] + (core.axes[f, d] - core.true_axes[f, d]) * core.foot_offset[c]
                total = total + power(wp.dot(e, e) * scale * core.foot_weight * core.foot_weight, p)
    return total


@wp.func
def step(core: Core, m: wp.int32, low: wp.int32, high: wp.int32, size: wp.float64, rounding: wp.int32):
    """The knots low..high moved from their backup by `size` of the increments in `slope`."""
    g = core.group[m]
    k = low
    while True:
        v = core.trial[k]
        if not fixed(core, m, k):
            if core.path[m] != 2:
                v = moved(core, m, v, core.slope[k] * (-size))
            if rounding != 0:
                v = rounded(core, m, v)
        core.value[m, k] = v
        if k >= high:
            break
        k = core.right[g, k]


@wp.func
def refit(core: Core, m: wp.int32, low: wp.int32, high: wp.int32, p: wp.int32, rounding: wp.int32):
    """One Newton step of a track's values at the knots low..high, shorter where a whole one does harm. sub = 1."""
    g = core.group[m]
    j = core.joint[m]
    start = low
    if low > 0:
        start = core.left[g, low - 1]
    end = core.right[g, high]
    if end <= high:
        end = core.frames - 1
    for f in range(low, high + 1):
        core.trial[f] = core.value[m, f]
    before = objective(core, j, start, end, p)
    if core.path[m] != 2:
        gather(core, m, start, end, p)
        settle(core, m, g, low, high)
    size = wp.float64(1.0)
    for attempt in range(4):
        if size > ZERO:
            if attempt == 3:
                size = wp.float64(0.0)
            step(core, m, low, high, size, rounding)
            play(core, m, start, end)
            place_below(core, j, start, end)
            if attempt < 3:
                if objective(core, j, start, end, p) <= before or core.path[m] == 2:
                    size = wp.float64(0.0)
                else:
                    size = size * wp.float64(0.35)

"""The inner loops of the reduction: playback, object-space error, refit of knot values and trial removals, compiled by Warp for the CPU."""
# mypy: ignore-errors
# Warp reads annotations and operators in a language of its own; `compiled` is the typed side.

import warp as wp

ZERO = wp.constant(wp.float64(0.0))
ONE = wp.constant(wp.float64(1.0))
TWO = wp.constant(wp.float64(2.0))
HALF = wp.constant(wp.float64(0.5))
TINY = wp.constant(wp.float64(1e-30))
NEARLY = wp.constant(wp.float64(0.9999995))
SHORTS = wp.constant(wp.float64(32767.0))


@wp.struct
class Core:
    """A clip being reduced: samples s of a grid `sub` times as fine as the frames f; values of track m at its knots, by frame."""

    joints: wp.int32
    frames: wp.int32
    sub: wp.int32
    rate: wp.float64
    nlerp: wp.int32
    unit: wp.float64
    shell: wp.float64
    parents: wp.array(dtype=wp.int32)
    below: wp.array(dtype=wp.int32)
    below_at: wp.array(dtype=wp.int32)
    moves: wp.array(dtype=wp.vec3d, ndim=2)
    turns: wp.array(dtype=wp.quatd, ndim=2)
    grows: wp.array(dtype=wp.vec3d, ndim=2)
    axes: wp.array(dtype=wp.mat33d, ndim=2)
    places: wp.array(dtype=wp.vec3d, ndim=2)
    true_axes: wp.array(dtype=wp.mat33d, ndim=2)
    true_places: wp.array(dtype=wp.vec3d, ndim=2)
    error: wp.array(dtype=wp.float64, ndim=2)
    joint: wp.array(dtype=wp.int32)
    path: wp.array(dtype=wp.int32)
    group: wp.array(dtype=wp.int32)
    pinned: wp.array(dtype=wp.int32, ndim=2)
    coarse: wp.array(dtype=wp.int32)
    value: wp.array(dtype=wp.vec4d, ndim=2)
    backup: wp.array(dtype=wp.vec4d, ndim=2)
    left: wp.array(dtype=wp.int32, ndim=2)
    right: wp.array(dtype=wp.int32, ndim=2)
    member_at: wp.array(dtype=wp.int32)
    member: wp.array(dtype=wp.int32)
    touches: wp.array(dtype=wp.int32, ndim=2)
    under: wp.array(dtype=wp.int32, ndim=2)
    time: wp.array(dtype=wp.float64)
    trial: wp.array(dtype=wp.vec4d)
    diagonal: wp.array(dtype=wp.mat33d)
    beside: wp.array(dtype=wp.mat33d)
    slope: wp.array(dtype=wp.vec3d)
    foot: wp.array(dtype=wp.int32)
    foot_offset: wp.array(dtype=wp.vec3d)
    foot_weight: wp.float64
    planted: wp.array(dtype=wp.int32, ndim=2)
    tolerance: wp.float64


@wp.func
def as_quat(v: wp.vec4d):
    return wp.quatd(v[0], v[1], v[2], v[3])


@wp.func
def dot4(a: wp.vec4d, b: wp.vec4d):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


@wp.func
def between(a: wp.vec4d, b: wp.vec4d, u: wp.float64, nlerp: wp.int32):
    """The rotation that a player shows a share u of the way between two keys, over the shorter arc."""
    x = wp.normalize(a)
    y = wp.normalize(b)
    d = dot4(x, y)
    sign = wp.float64(1.0)
    if d < ZERO:
        sign = -ONE
        d = -d
    first = ONE - u
    second = u
    if nlerp == 0 and d < NEARLY:
        angle = wp.acos(d)
        over = ONE / wp.sqrt(ONE - d * d)
        first = wp.sin(first * angle) * over
        second = wp.sin(u * angle) * over
    return wp.normalize(x * first + y * (sign * second))


@wp.func
def share(core: Core, s: wp.int32, a: wp.int32, b: wp.int32):
    u = wp.float64(0.0)
    if b > a:
        t = core.time[s // core.sub]
        if core.sub > 1:
            t = wp.float64(s) / core.rate
        u = wp.clamp((t - core.time[a]) / (core.time[b] - core.time[a]), ZERO, ONE)
    return u


@wp.func
def play(core: Core, m: wp.int32, start: wp.int32, end: wp.int32):
    """Local values of a track's joint at samples start..end."""
    g = core.group[m]
    j = core.joint[m]
    path = core.path[m]
    for s in range(start, end + 1):
        f = s // core.sub
        a = core.left[g, f]
        b = core.right[g, f]
        u = share(core, s, a, b)
        v = core.value[m, a]
        w = core.value[m, b]
        if path == 1:
            core.turns[s, j] = as_quat(between(v, w, u, core.nlerp))
        else:
            x = v * (ONE - u) + w * u
            if path == 0:
                core.moves[s, j] = wp.vec3d(x[0], x[1], x[2])
            else:
                core.grows[s, j] = wp.vec3d(x[0], x[1], x[2])


@wp.func
def place(core: Core, s: wp.int32, d: wp.int32):
    """World axes and place of one joint from its parent's."""
    r = wp.quat_to_matrix(core.turns[s, d])
    c = core.grows[s, d]
    local = wp.mat33d(
        r[0, 0] * c[0], r[0, 1] * c[1], r[0, 2] * c[2],
        r[1, 0] * c[0], r[1, 1] * c[1], r[1, 2] * c[2],
        r[2, 0] * c[0], r[2, 1] * c[1], r[2, 2] * c[2],
    )  # fmt: skip
    p = core.parents[d]
    if p < 0:
        core.axes[s, d] = local
        core.places[s, d] = core.moves[s, d]
    else:
        above = core.axes[s, p]
        core.axes[s, d] = above * local
        core.places[s, d] = core.places[s, p] + above * core.moves[s, d]


@wp.func
def place_below(core: Core, j: wp.int32, start: wp.int32, end: wp.int32):
    for s in range(start, end + 1):
        for i in range(core.below_at[j], core.below_at[j + 1]):
            place(core, s, core.below[i])


@wp.func
def column(m: wp.mat33d, i: wp.int32):
    return wp.vec3d(m[0, i], m[1, i], m[2, i])


@wp.func
def joint_error(core: Core, s: wp.int32, d: wp.int32):
    """The largest displacement of a joint's points as a share of what each may have."""
    gap = core.places[s, d] - core.true_places[s, d]
    worst = wp.float64(0.0)
    for i in range(3):
        true = column(core.true_axes[s, d], i)
        e = gap + (column(core.axes[s, d], i) - true) * (core.shell / (wp.length(true) + TINY))
        worst = wp.max(worst, wp.dot(e, e))
    worst = wp.sqrt(worst) / core.tolerance
    f = s // core.sub
    last = wp.min(f + 1, core.frames - 1)
    if s == f * core.sub:
        last = f
    for c in range(core.foot.shape[0]):
        if core.foot[c] == d and core.planted[c, f] != 0 and core.planted[c, last] != 0:
            e = gap + (core.axes[s, d] - core.true_axes[s, d]) * core.foot_offset[c]
            worst = wp.max(worst, wp.length(e) * core.foot_weight / core.tolerance)
    return worst


@wp.kernel(enable_backward=False)
def pose(core: Core, tracks: wp.array(dtype=wp.int32), start: wp.int32, end: wp.int32):
    """Plays these tracks and places all joints, samples start..end."""
    for i in range(tracks.shape[0]):
        play(core, tracks[i], start, end)
    for s in range(start, end + 1):
        for d in range(core.joints):
            place(core, s, d)


@wp.kernel(enable_backward=False)
def errors(core: Core, start: wp.int32, end: wp.int32):
    """Fills `error` at samples start..end."""
    for s in range(start, end + 1):
        for d in range(core.joints):
            core.error[s, d] = joint_error(core, s, d)


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
    before = int(-1)
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
def rounded(core: Core, m: wp.int32, v: wp.vec4d):
    """What a file gives back of a value: int16 rotations where the track is stored so, float32 else; not normalised."""
    out = v
    if core.path[m] == 1:
        if core.coarse[m] != 0:
            for i in range(4):
                out[i] = wp.clamp(wp.floor(v[i] * SHORTS + HALF), -SHORTS, SHORTS) / SHORTS
        else:
            for i in range(4):
                out[i] = wp.float64(wp.float32(v[i]))
    else:
        for i in range(3):
            unit = wp.float64(1.0)
            if core.path[m] == 0:
                unit = core.unit
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


@wp.func
def last_knot(core: Core, g: wp.int32):
    return core.left[g, core.frames - 1]


@wp.kernel(enable_backward=False)
def sweep(core: Core, order: wp.array(dtype=wp.int32), p: wp.int32, rounding: wp.int32):
    """Refits these tracks one after another over all their knots."""
    for i in range(order.shape[0]):
        m = order[i]
        refit(core, m, 0, last_knot(core, core.group[m]), p, rounding)


@wp.func
def group_error(core: Core, g: wp.int32, start: wp.int32, end: wp.int32):
    worst = wp.float64(0.0)
    for s in range(start, end + 1):
        for d in range(core.joints):
            if core.touches[g, d] != 0:
                worst = wp.max(worst, joint_error(core, s, d))
    return worst


@wp.func
def replay(core: Core, g: wp.int32, start: wp.int32, end: wp.int32):
    for i in range(core.member_at[g], core.member_at[g + 1]):
        play(core, core.member[i], start, end)
    for s in range(start, end + 1):
        for d in range(core.joints):
            if core.touches[g, d] != 0:
                place(core, s, d)


@wp.func
def unknot(core: Core, g: wp.int32, a: wp.int32, k: wp.int32, b: wp.int32):
    for f in range(a, k):
        core.right[g, f] = b
    for f in range(k, b):
        core.left[g, f] = a


@wp.func
def reknot(core: Core, g: wp.int32, a: wp.int32, k: wp.int32, b: wp.int32):
    for f in range(a, k):
        core.right[g, f] = k
    for f in range(k, b):
        core.left[g, f] = k


@wp.func
def too_far(core: Core, g: wp.int32, a: wp.int32, b: wp.int32, cosine: wp.float64):
    """Whether a rotation of the group turns more than allowed between two frames."""
    far = bool(False)
    for i in range(core.member_at[g], core.member_at[g + 1]):
        m = core.member[i]
        if core.path[m] == 1 and wp.abs(dot4(core.value[m, a], core.value[m, b])) < cosine:
            far = True
    return far


@wp.func
def held_fast(core: Core, g: wp.int32, k: wp.int32):
    """Whether a knot of the group may not go."""
    stays = bool(False)
    for i in range(core.member_at[g], core.member_at[g + 1]):
        if core.pinned[core.member[i], k] != 0:
            stays = True
    return stays


@wp.func
def keep_values(core: Core, g: wp.int32, start: wp.int32, end: wp.int32, back: wp.int32):
    for i in range(core.member_at[g], core.member_at[g + 1]):
        m = core.member[i]
        for f in range(start, end + 1):
            if back != 0:
                core.value[m, f] = core.backup[m, f]
            else:
                core.backup[m, f] = core.value[m, f]


@wp.kernel(enable_backward=False)
def prune(
    core: Core,
    groups: wp.array(dtype=wp.int32),
    knots: wp.array(dtype=wp.int32),
    taken: wp.array(dtype=wp.int32),
    limit: wp.float64,
    hopeless: wp.float64,
    cosine: wp.float64,
    p: wp.int32,
    rounds: wp.int32,
    rounding: wp.int32,
):
    """Tries to do without each of these knots in turn, its neighbours refitted; what keeps the error below the limit stays out."""
    for i in range(groups.shape[0]):
        g = groups[i]
        k = knots[i]
        taken[i] = 0
        if core.left[g, k] == k and k > 0 and core.right[g, k] > k:
            a = core.left[g, k - 1]
            b = core.right[g, k]
            if not too_far(core, g, a, b, cosine) and not held_fast(core, g, k):
                start = a
                if a > 0:
                    start = core.left[g, a - 1]
                end = core.right[g, b]
                keep_values(core, g, a, b, 0)
                unknot(core, g, a, k, b)
                replay(core, g, a, b)
                worst = group_error(core, g, a, b)
                if worst > limit and worst < hopeless:
                    for _r in range(rounds):
                        if worst > limit:
                            for t in range(core.member_at[g], core.member_at[g + 1]):
                                refit(core, core.member[t], a, b, p, rounding)
                            worst = group_error(core, g, start, end)
                if worst <= limit:
                    taken[i] = 1
                else:
                    reknot(core, g, a, k, b)
                    keep_values(core, g, a, b, 1)
                    replay(core, g, start, end)


@wp.func
def segment_ok(
    v: wp.array(dtype=wp.vec4d),
    w: wp.array(dtype=wp.float64),
    turn: wp.int32,
    a: wp.int32,
    b: wp.int32,
    budget: wp.float64,
    cosine: wp.float64,
    nlerp: wp.int32,
):
    """Whether going straight from frame a to b stays within the budget at the frames between."""
    x = v[a]
    y = v[b]
    ok = bool(True)
    if turn != 0 and dot4(x, y) < cosine:
        ok = False
    i = int(a + 1)
    while ok and i < b:
        u = wp.float64(i - a) / wp.float64(b - a)
        allowed = budget / w[i]
        if turn != 0:
            e = between(x, y, u, 0) - v[i]
            if dot4(e, e) > allowed * allowed:
                ok = False
            if nlerp != 0:
                e = between(x, y, u, 1) - v[i]
                if dot4(e, e) > allowed * allowed:
                    ok = False
        else:
            e = x * (ONE - u) + y * u - v[i]
            if dot4(e, e) > allowed * allowed:
                ok = False
        i = i + 1
    return ok


@wp.kernel(enable_backward=False)
def reach(
    v: wp.array(dtype=wp.vec4d),
    w: wp.array(dtype=wp.float64),
    turn: wp.int32,
    budget: wp.float64,
    cosine: wp.float64,
    nlerp: wp.int32,
    out: wp.array(dtype=wp.int32),
):
    """The farthest frame that each frame reaches within the budget, looking two frames past a miss."""
    n = v.shape[0]
    guess = int(1)
    for a in range(n - 1):
        far = wp.min(a + wp.max(guess, 1), n - 1)
        while far > a + 1 and not segment_ok(v, w, turn, a, far, budget, cosine, nlerp):
            far = far - 1
        misses = int(0)
        b = int(far + 1)
        while b < n and misses < 2:
            if segment_ok(v, w, turn, a, b, budget, cosine, nlerp):
                far = b
                misses = 0
            else:
                misses = misses + 1
            b = b + 1
        out[a] = far
        guess = far - a - 1
    out[n - 1] = n - 1


@wp.kernel(enable_backward=False)
def walks(
    reaches: wp.array(dtype=wp.int32, ndim=2),
    first: wp.array(dtype=wp.int32),
    second: wp.array(dtype=wp.int32),
    out: wp.array(dtype=wp.int32),
):
    """Knots that each pair of reach arrays needs on one time line."""
    n = reaches.shape[1]
    for i in range(first.shape[0]):
        x = first[i]
        y = second[i]
        k = int(0)
        count = int(1)
        while k < n - 1:
            k = wp.min(reaches[x, k], reaches[y, k])
            count = count + 1
        out[i] = count

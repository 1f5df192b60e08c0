"""Parts of the kernels: what they share of a clip, its playback and its object-space error."""
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
    bits: wp.array(dtype=wp.int32)
    steps: wp.array(dtype=wp.float64)
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

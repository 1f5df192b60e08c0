"""The inner loops of the reduction, compiled by Warp for the CPU: playback, errors, refit, trial removals, and how far keys reach."""
# mypy: ignore-errors
# Warp reads annotations and operators in a language of its own; `compiled` is the typed side.

import warp as wp

from akd_sdk.exporters.reduction.kernel_core import ONE, Core, between, dot4, joint_error, place, play
from akd_sdk.exporters.reduction.kernel_fit import refit


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
    far = wp.bool(False)
    for i in range(core.member_at[g], core.member_at[g + 1]):
        m = core.member[i]
        if core.path[m] == 1 and wp.abs(dot4(core.value[m, a], core.value[m, b])) < cosine:
            far = True
    return far


@wp.func
def held_fast(core: Core, g: wp.int32, k: wp.int32):
    """Whether a knot of the group may not go."""
    stays = wp.bool(False)
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
    ok = wp.bool(True)
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
    guess = wp.int32(1)
    for a in range(n - 1):
        far = wp.min(a + wp.max(guess, 1), n - 1)
        while far > a + 1 and not segment_ok(v, w, turn, a, far, budget, cosine, nlerp):
            far = far - 1
        misses = wp.int32(0)
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
        k = wp.int32(0)
        count = wp.int32(1)
        while k < n - 1:
            k = wp.min(reaches[x, k], reaches[y, k])
            count = count + 1
        out[i] = count

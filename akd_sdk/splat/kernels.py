"""Warp kernels that blend Gaussians front to back and carry gradients back; one source for CPU and CUDA."""

from __future__ import annotations

import warp as wp

# mypy: ignore-errors
# Warp compiles what follows: its language borrows the syntax of Python, not its types.

wp.set_module_options({"enable_backward": False, "fuse_fp": False})  # contraction would move pixels over the cut-offs that torch decides

# Columns of a Gaussian in the picture, and of its gradients.
U = wp.constant(0)
V = wp.constant(1)
A = wp.constant(2)
B = wp.constant(3)
C = wp.constant(4)
OPACITY = wp.constant(5)
CUT = wp.constant(6)
HALF_WIDTH = wp.constant(7)
HALF_HEIGHT = wp.constant(8)
RED = wp.constant(6)
GREEN = wp.constant(7)
BLUE = wp.constant(8)

SLACK = wp.constant(0.01)  # pixels: what rounding may take from a span; the exponent decides in the end
MOST_ALPHA = wp.constant(0.999)
LEAST_LIGHT = wp.constant(1e-4)


@wp.struct
class Grid:
    """Sizes in pixels: of the picture, of the block that one thread fills, of the tile that has one list of Gaussians."""

    height: int
    width: int
    block: int
    tile: int
    gaussians: int


@wp.func
def first_pixel(edge: float, least: int) -> int:
    """The first pixel whose centre is not before `edge`, at least `least`."""
    return int(wp.max(wp.ceil(edge - 0.5), float(least)))


@wp.func
def last_pixel(edge: float, most: int) -> int:
    """The last pixel whose centre is not after `edge`, at most `most`."""
    return int(wp.min(wp.floor(edge - 0.5), float(most)))


@wp.func
def half_span(a: float, b: float, c: float, cut: float, dy: float) -> float:
    """Half the width of an ellipse in a row, generous by what rounding may take; negative where the row misses it."""
    room = 2.0 * cut * a - (a * c - b * b) * dy * dy + 2.0e-6 * a * (cut + c * dy * dy)
    return wp.where(room < 0.0, -1.0, wp.sqrt(wp.max(room, 0.0)) / a + SLACK)


@wp.kernel
def blend(
    grid: Grid,
    splats: wp.array3d(dtype=float),
    colours: wp.array2d(dtype=float),
    lists: wp.array(dtype=int),
    bounds: wp.array2d(dtype=int),
    image: wp.array(dtype=float),
    light: wp.array(dtype=float),
    last: wp.array(dtype=int),
):
    """Colour, remaining light and last contribution of each pixel of a block; `light` starts at 1, the others at 0.

    `light` of a pixel that is full is held negative until the end.
    """
    picture, block_y, block_x = wp.tid()
    top = block_y * grid.block
    left = block_x * grid.block
    bottom = wp.min(top + grid.block, grid.height) - 1
    right = wp.min(left + grid.block, grid.width) - 1
    across = (grid.width + grid.tile - 1) // grid.tile
    down = (grid.height + grid.tile - 1) // grid.tile
    tile = (picture * down + top // grid.tile) * across + left // grid.tile
    base = picture * grid.height * grid.width
    for k in range(bounds[tile, 0], bounds[tile, 1]):
        i = lists[k]
        cut = splats[picture, i, CUT]
        if cut < 0.0:
            continue
        u = splats[picture, i, U]
        v = splats[picture, i, V]
        a = splats[picture, i, A]
        b = splats[picture, i, B]
        c = splats[picture, i, C]
        opacity = splats[picture, i, OPACITY]
        reach = splats[picture, i, HALF_HEIGHT] + SLACK
        red = colours[i, 0]
        green = colours[i, 1]
        blue = colours[i, 2]
        for y in range(first_pixel(v - reach, top), last_pixel(v + reach, bottom) + 1):
            dy = float(y) + 0.5 - v
            span = half_span(a, b, c, cut, dy)
            if span < 0.0:
                continue
            middle = u - b * dy / a
            row = base + y * grid.width
            cyy = c * dy * dy
            for x in range(first_pixel(middle - span, left), last_pixel(middle + span, right) + 1):
                dx = float(x) + 0.5 - u
                q = 0.5 * (a * dx * dx + cyy) + b * dx * dy
                before = light[row + x]
                if q <= cut and before > 0.0:
                    alpha = wp.min(opacity * wp.exp(-q), MOST_ALPHA)
                    after = before * (1.0 - alpha)
                    if after <= LEAST_LIGHT:
                        light[row + x] = -before
                    else:
                        share = alpha * before
                        p = 3 * (row + x)
                        image[p] = image[p] + share * red
                        image[p + 1] = image[p + 1] + share * green
                        image[p + 2] = image[p + 2] + share * blue
                        light[row + x] = after
                        last[row + x] = k + 1
    for y in range(top, bottom + 1):
        for x in range(left, right + 1):
            p = base + y * grid.width + x
            light[p] = wp.abs(light[p])


@wp.kernel
def blend_back(
    grid: Grid,
    splats: wp.array3d(dtype=float),
    colours: wp.array2d(dtype=float),
    lists: wp.array(dtype=int),
    bounds: wp.array2d(dtype=int),
    seen: wp.array(dtype=float),
    last: wp.array(dtype=int),
    light: wp.array(dtype=float),
    behind: wp.array(dtype=float),
    gradients: wp.array3d(dtype=float),
):
    """Gradients of the columns u, v, a, b, c, opacity and of the three colours, added to `gradients`.

    `seen` is the gradient of the image; `light` what `blend` left, and `behind` it times its own gradient: both are used up, from back
    to front, as the light before, and the gradient through all that is behind, the present Gaussian.
    """
    picture, block_y, block_x = wp.tid()
    top = block_y * grid.block
    left = block_x * grid.block
    bottom = wp.min(top + grid.block, grid.height) - 1
    right = wp.min(left + grid.block, grid.width) - 1
    across = (grid.width + grid.tile - 1) // grid.tile
    down = (grid.height + grid.tile - 1) // grid.tile
    tile = (picture * down + top // grid.tile) * across + left // grid.tile
    base = picture * grid.height * grid.width
    count = bounds[tile, 1] - bounds[tile, 0]
    for n in range(count):
        k = bounds[tile, 1] - 1 - n
        i = lists[k]
        cut = splats[picture, i, CUT]
        if cut < 0.0:
            continue
        u = splats[picture, i, U]
        v = splats[picture, i, V]
        a = splats[picture, i, A]
        b = splats[picture, i, B]
        c = splats[picture, i, C]
        opacity = splats[picture, i, OPACITY]
        reach = splats[picture, i, HALF_HEIGHT] + SLACK
        red = colours[i, 0]
        green = colours[i, 1]
        blue = colours[i, 2]
        d_u = wp.float32(0.0)
        d_v = wp.float32(0.0)
        d_a = wp.float32(0.0)
        d_b = wp.float32(0.0)
        d_c = wp.float32(0.0)
        d_opacity = wp.float32(0.0)
        d_red = wp.float32(0.0)
        d_green = wp.float32(0.0)
        d_blue = wp.float32(0.0)
        for y in range(first_pixel(v - reach, top), last_pixel(v + reach, bottom) + 1):
            dy = float(y) + 0.5 - v
            span = half_span(a, b, c, cut, dy)
            if span < 0.0:
                continue
            middle = u - b * dy / a
            row = base + y * grid.width
            cyy = c * dy * dy
            for x in range(first_pixel(middle - span, left), last_pixel(middle + span, right) + 1):
                dx = float(x) + 0.5 - u
                q = 0.5 * (a * dx * dx + cyy) + b * dx * dy
                if q <= cut and k < last[row + x]:
                    fall = wp.exp(-q)
                    whole = opacity * fall
                    alpha = wp.min(whole, MOST_ALPHA)
                    left_over = 1.0 / (1.0 - alpha)
                    before = light[row + x] * left_over
                    share = alpha * before
                    p = 3 * (row + x)
                    s_red = seen[p]
                    s_green = seen[p + 1]
                    s_blue = seen[p + 2]
                    own = s_red * red + s_green * green + s_blue * blue
                    rest = behind[row + x]
                    d_red += share * s_red
                    d_green += share * s_green
                    d_blue += share * s_blue
                    light[row + x] = before
                    behind[row + x] = rest + share * own
                    if whole <= MOST_ALPHA:
                        d_alpha = before * own - rest * left_over
                        d_q = -alpha * d_alpha
                        d_opacity += fall * d_alpha
                        d_u -= d_q * (a * dx + b * dy)
                        d_v -= d_q * (b * dx + c * dy)
                        d_a += d_q * dx * dx
                        d_b += d_q * dx * dy
                        d_c += d_q * dy * dy
        wp.atomic_add(gradients, picture, i, U, d_u)
        wp.atomic_add(gradients, picture, i, V, d_v)
        wp.atomic_add(gradients, picture, i, A, 0.5 * d_a)
        wp.atomic_add(gradients, picture, i, B, d_b)
        wp.atomic_add(gradients, picture, i, C, 0.5 * d_c)
        wp.atomic_add(gradients, picture, i, OPACITY, d_opacity)
        wp.atomic_add(gradients, picture, i, RED, d_red)
        wp.atomic_add(gradients, picture, i, GREEN, d_green)
        wp.atomic_add(gradients, picture, i, BLUE, d_blue)

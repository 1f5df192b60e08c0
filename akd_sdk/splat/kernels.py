"""Warp kernels that blend Gaussians front to back and carry gradients back; one source for CPU and CUDA."""

from __future__ import annotations

import warp as wp

from akd_sdk.splat.projection import LEAST_LIGHT, MARGIN, MOST_ALPHA

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
MOST = wp.constant(MOST_ALPHA)
LEAST = wp.constant(LEAST_LIGHT)
HALF_AND_MARGIN = wp.constant((1.0 + MARGIN) / 2.0)


@wp.struct
class Grid:
    """Sizes in pixels: of the picture, of the block that one thread fills, of the tile that has one list of Gaussians."""

    height: int
    width: int
    block: int
    tile: int


@wp.func
def tile_of(grid: Grid, top: int, left: int) -> int:
    """Index of the list of Gaussians of the tile that holds a pixel."""
    across = (grid.width + grid.tile - 1) // grid.tile
    return top // grid.tile * across + left // grid.tile


@wp.func
def first_pixel(edge: float, least: int, most: int) -> int:
    """The first pixel of least..most whose centre is not before `edge`; most + 1 where there is none."""
    return int(wp.clamp(wp.ceil(edge - 0.5), float(least), float(most + 1)))


@wp.func
def last_pixel(edge: float, least: int, most: int) -> int:
    """The last pixel of least..most whose centre is not after `edge`; least - 1 where there is none."""
    return int(wp.clamp(wp.floor(edge - 0.5), float(least - 1), float(most)))


@wp.func
def half_span(a: float, b: float, c: float, cut: float, dy: float) -> float:
    """Half the width of an ellipse in a row, generous by what rounding may take; negative where the row misses it."""
    room = 2.0 * cut * a - (a * c - b * b) * dy * dy + 2.0e-6 * a * (cut + c * dy * dy)
    return wp.where(room < 0.0, -1.0, wp.sqrt(wp.max(room, 0.0)) / a + SLACK)


@wp.kernel
def blend(
    grid: Grid,
    colours: wp.array2d(dtype=float),
    lists: wp.array(dtype=int),
    splats: wp.array3d(dtype=float),
    bounds: wp.array3d(dtype=int),
    image: wp.array2d(dtype=float),
    light: wp.array2d(dtype=float),
    last: wp.array2d(dtype=int),
):
    """Colour, remaining light and last contribution of each pixel of a block; `light` starts at 1, the others at 0.

    `light` of a pixel that is full is held negative until the end.
    """
    picture, block_y, block_x = wp.tid()
    top = block_y * grid.block
    left = block_x * grid.block
    bottom = wp.min(top + grid.block, grid.height) - 1
    right = wp.min(left + grid.block, grid.width) - 1
    tile = tile_of(grid, top, left)
    for k in range(bounds[picture, tile, 0], bounds[picture, tile, 1]):
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
        for y in range(first_pixel(v - reach, top, bottom), last_pixel(v + reach, top, bottom) + 1):
            dy = float(y) + 0.5 - v
            span = half_span(a, b, c, cut, dy)
            if span < 0.0:
                continue
            middle = u - b * dy / a
            row = y * grid.width
            cyy = c * dy * dy
            for x in range(first_pixel(middle - span, left, right), last_pixel(middle + span, left, right) + 1):
                dx = float(x) + 0.5 - u
                q = 0.5 * (a * dx * dx + cyy) + b * dx * dy
                before = light[picture, row + x]
                if q <= cut and before > 0.0:
                    alpha = wp.min(opacity * wp.exp(-q), MOST)
                    after = before * (1.0 - alpha)
                    if after <= LEAST:
                        light[picture, row + x] = -before
                    else:
                        share = alpha * before
                        p = 3 * (row + x)
                        image[picture, p] = image[picture, p] + share * red
                        image[picture, p + 1] = image[picture, p + 1] + share * green
                        image[picture, p + 2] = image[picture, p + 2] + share * blue
                        light[picture, row + x] = after
                        last[picture, row + x] = k + 1
    for y in range(top, bottom + 1):
        for x in range(left, right + 1):
            p = y * grid.width + x
            light[picture, p] = wp.abs(light[picture, p])


@wp.kernel
def blend_back(
    grid: Grid,
    colours: wp.array2d(dtype=float),
    lists: wp.array(dtype=int),
    splats: wp.array3d(dtype=float),
    bounds: wp.array3d(dtype=int),
    seen: wp.array2d(dtype=float),
    last: wp.array2d(dtype=int),
    light: wp.array2d(dtype=float),
    behind: wp.array2d(dtype=float),
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
    tile = tile_of(grid, top, left)
    count = bounds[picture, tile, 1] - bounds[picture, tile, 0]
    for n in range(count):
        k = bounds[picture, tile, 1] - 1 - n
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
        for y in range(first_pixel(v - reach, top, bottom), last_pixel(v + reach, top, bottom) + 1):
            dy = float(y) + 0.5 - v
            span = half_span(a, b, c, cut, dy)
            if span < 0.0:
                continue
            middle = u - b * dy / a
            row = y * grid.width
            cyy = c * dy * dy
            for x in range(first_pixel(middle - span, left, right), last_pixel(middle + span, left, right) + 1):
                dx = float(x) + 0.5 - u
                q = 0.5 * (a * dx * dx + cyy) + b * dx * dy
                if q <= cut and k < last[picture, row + x]:
                    fall = wp.exp(-q)
                    whole = opacity * fall
                    alpha = wp.min(whole, MOST)
                    left_over = 1.0 / (1.0 - alpha)
                    before = light[picture, row + x] * left_over
                    share = alpha * before
                    p = 3 * (row + x)
                    s_red = seen[picture, p]
                    s_green = seen[picture, p + 1]
                    s_blue = seen[picture, p + 2]
                    own = s_red * red + s_green * green + s_blue * blue
                    rest = behind[picture, row + x]
                    d_red += share * s_red
                    d_green += share * s_green
                    d_blue += share * s_blue
                    light[picture, row + x] = before
                    behind[picture, row + x] = rest + share * own
                    if whole <= MOST:
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


@wp.func
def vector(rows: wp.array3d(dtype=float), picture: int, i: int) -> wp.vec3:
    return wp.vec3(rows[picture, i, 0], rows[picture, i, 1], rows[picture, i, 2])


@wp.func
def symmetric(matrices: wp.array4d(dtype=float), picture: int, i: int) -> wp.mat33:
    """The symmetric part of a matrix."""
    m = matrices[picture, i]
    xy = 0.5 * (m[0, 1] + m[1, 0])
    xz = 0.5 * (m[0, 2] + m[2, 0])
    yz = 0.5 * (m[1, 2] + m[2, 1])
    return wp.mat33(m[0, 0], xy, xz, xy, m[1, 1], yz, xz, yz, m[2, 2])


@wp.func
def add_row(d_cameras: wp.array3d(dtype=float), picture: int, row: int, turn: wp.vec3, shift: float):
    for column in range(3):
        wp.atomic_add(d_cameras, picture, row, column, turn[column])
    wp.atomic_add(d_cameras, picture, row, 3, shift)


@wp.kernel
def project_back(
    grid: Grid,
    splats: wp.array3d(dtype=float),
    gradients: wp.array3d(dtype=float),
    means: wp.array3d(dtype=float),
    covariances: wp.array4d(dtype=float),
    cameras: wp.array3d(dtype=float),
    focals: wp.array(dtype=float),
    d_means: wp.array3d(dtype=float),
    d_covariances: wp.array4d(dtype=float),
    d_cameras: wp.array3d(dtype=float),
):
    """From the gradients of centres and conics to those of means, covariances and cameras.

    Names: `right`, `down`, `ahead` are the camera's axes in the world, `across` and `along` the derivatives of a pixel's two coordinates by
    a point of the world, `d_` the gradient of what follows.
    """
    picture, i = wp.tid()
    if splats[picture, i, CUT] < 0.0:
        return
    right = vector(cameras, picture, 0)
    down = vector(cameras, picture, 1)
    ahead = vector(cameras, picture, 2)
    focal = focals[picture]
    mean = vector(means, picture, i)
    depth = wp.dot(ahead, mean) + cameras[picture, 2, 3]
    x = (wp.dot(right, mean) + cameras[picture, 0, 3]) / depth
    y = (wp.dot(down, mean) + cameras[picture, 1, 3]) / depth
    x_edge = HALF_AND_MARGIN * float(grid.width) / focal
    y_edge = HALF_AND_MARGIN * float(grid.height) / focal
    x_held = wp.clamp(x, -x_edge, x_edge)
    y_held = wp.clamp(y, -y_edge, y_edge)
    scale = focal / depth
    across = scale * (right - x_held * ahead)
    along = scale * (down - y_held * ahead)

    a = splats[picture, i, A]
    b = splats[picture, i, B]
    c = splats[picture, i, C]
    d_a = gradients[picture, i, A]
    d_b = gradients[picture, i, B]
    d_c = gradients[picture, i, C]
    d_xx = -(a * a * d_a + a * b * d_b + b * b * d_c)
    d_yy = -(b * b * d_a + b * c * d_b + c * c * d_c)
    d_xy = -(2.0 * a * b * d_a + (a * c + b * b) * d_b + 2.0 * b * c * d_c)
    d_covariance = wp.outer(d_xx * across + 0.5 * d_xy * along, across) + wp.outer(d_yy * along + 0.5 * d_xy * across, along)
    covariance = symmetric(covariances, picture, i)
    by_across = covariance * across
    by_along = covariance * along
    d_across = 2.0 * d_xx * by_across + d_xy * by_along
    d_along = 2.0 * d_yy * by_along + d_xy * by_across

    d_x = focal * gradients[picture, i, U]
    d_y = focal * gradients[picture, i, V]
    if x == x_held:
        d_x -= scale * wp.dot(d_across, ahead)
    if y == y_held:
        d_y -= scale * wp.dot(d_along, ahead)
    d_scale = (wp.dot(d_across, across) + wp.dot(d_along, along)) / scale
    d_seen = wp.vec3(d_x / depth, d_y / depth, -(d_x * x + d_y * y + d_scale * scale) / depth)
    d_mean = d_seen[0] * right + d_seen[1] * down + d_seen[2] * ahead
    for row in range(3):
        d_means[picture, i, row] = d_mean[row]
        for column in range(3):
            d_covariances[picture, i, row, column] = d_covariance[row, column]
    add_row(d_cameras, picture, 0, d_seen[0] * mean + scale * d_across, d_seen[0])
    add_row(d_cameras, picture, 1, d_seen[1] * mean + scale * d_along, d_seen[1])
    add_row(d_cameras, picture, 2, d_seen[2] * mean - scale * (x_held * d_across + y_held * d_along), d_seen[2])

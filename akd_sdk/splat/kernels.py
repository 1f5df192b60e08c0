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
REACH = wp.constant(7)
COLOUR = wp.constant(6)

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


@wp.struct
class Block:
    """The pixels of one thread, all four edges among them, and the list of their tile."""

    top: int
    left: int
    bottom: int
    right: int
    tile: int


@wp.struct
class Ellipse:
    """A Gaussian in the picture: its centre, its exponent, how far it is drawn."""

    u: float
    v: float
    a: float
    b: float
    c: float
    opacity: float
    cut: float
    reach: float


@wp.func
def block_at(grid: Grid, down: int, across: int) -> Block:
    block = Block()
    block.top = down * grid.block
    block.left = across * grid.block
    block.bottom = wp.min(block.top + grid.block, grid.height) - 1
    block.right = wp.min(block.left + grid.block, grid.width) - 1
    block.tile = block.top // grid.tile * ((grid.width + grid.tile - 1) // grid.tile) + block.left // grid.tile
    return block


@wp.func
def ellipse_of(splats: wp.array3d(dtype=float), picture: int, i: int) -> Ellipse:
    it = Ellipse()
    it.u = splats[picture, i, U]
    it.v = splats[picture, i, V]
    it.a = splats[picture, i, A]
    it.b = splats[picture, i, B]
    it.c = splats[picture, i, C]
    it.opacity = splats[picture, i, OPACITY]
    it.cut = splats[picture, i, CUT]
    it.reach = splats[picture, i, REACH] + SLACK
    return it


@wp.func
def first_pixel(edge: float, least: int, most: int) -> int:
    """The first pixel of least..most whose centre is not before `edge`; most + 1 where there is none."""
    return int(wp.clamp(wp.ceil(edge - 0.5), float(least), float(most + 1)))


@wp.func
def end_pixel(edge: float, least: int, most: int) -> int:
    """One past the last pixel of least..most whose centre is not after `edge`; least where there is none."""
    return int(wp.clamp(wp.floor(edge - 0.5), float(least - 1), float(most))) + 1


@wp.func
def half_span(it: Ellipse, dy: float) -> float:
    """Half the width of an ellipse in a row, generous by what rounding may take; negative where the row misses it."""
    room = 2.0 * it.cut * it.a - (it.a * it.c - it.b * it.b) * dy * dy + 2.0e-6 * it.a * (it.cut + it.c * dy * dy)
    return wp.where(room < 0.0, -1.0, wp.sqrt(wp.max(room, 0.0)) / it.a + SLACK)


@wp.func
def exponent(it: Ellipse, dx: float, dy: float) -> float:
    """In the order of operations of the twin, bit for bit, since the cut-off depends on it."""
    return 0.5 * (it.a * dx * dx + it.c * dy * dy) + it.b * dx * dy


@wp.kernel
def blend(
    grid: Grid,
    colours: wp.array2d(dtype=float),
    lists: wp.array(dtype=int),
    splats: wp.array3d(dtype=float),
    bounds: wp.array3d(dtype=int),
    image: wp.array3d(dtype=float),
    light: wp.array2d(dtype=float),
    last: wp.array2d(dtype=int),
):
    """Colour, remaining light and last contribution of each pixel of a block; `light` starts at 1, the others at 0.

    `light` of a pixel that is full is held negative until the end.
    """
    picture, down, across = wp.tid()
    block = block_at(grid, down, across)
    for k in range(bounds[picture, block.tile, 0], bounds[picture, block.tile, 1]):
        i = lists[k]
        it = ellipse_of(splats, picture, i)
        if it.cut < 0.0:
            continue
        red = colours[i, 0]
        green = colours[i, 1]
        blue = colours[i, 2]
        for y in range(first_pixel(it.v - it.reach, block.top, block.bottom), end_pixel(it.v + it.reach, block.top, block.bottom)):
            dy = float(y) + 0.5 - it.v
            span = half_span(it, dy)
            if span < 0.0:
                continue
            middle = it.u - it.b * dy / it.a
            for x in range(first_pixel(middle - span, block.left, block.right), end_pixel(middle + span, block.left, block.right)):
                q = exponent(it, float(x) + 0.5 - it.u, dy)
                p = y * grid.width + x
                before = light[picture, p]
                if q <= it.cut and before > 0.0:
                    alpha = wp.min(it.opacity * wp.exp(-q), MOST)
                    after = before * (1.0 - alpha)
                    if after <= LEAST:
                        light[picture, p] = -before
                    else:
                        share = alpha * before
                        image[picture, p, 0] = image[picture, p, 0] + share * red
                        image[picture, p, 1] = image[picture, p, 1] + share * green
                        image[picture, p, 2] = image[picture, p, 2] + share * blue
                        light[picture, p] = after
                        last[picture, p] = k + 1
    for y in range(block.top, block.bottom + 1):
        for x in range(block.left, block.right + 1):
            p = y * grid.width + x
            light[picture, p] = wp.abs(light[picture, p])


@wp.func
def vector(rows: wp.array3d(dtype=float), picture: int, i: int) -> wp.vec3:
    return wp.vec3(rows[picture, i, 0], rows[picture, i, 1], rows[picture, i, 2])


@wp.func
def add(rows: wp.array3d(dtype=float), picture: int, i: int, first: int, numbers: wp.vec3):
    for n in range(3):
        wp.atomic_add(rows, picture, i, first + n, numbers[n])


@wp.kernel
def blend_back(
    grid: Grid,
    colours: wp.array2d(dtype=float),
    lists: wp.array(dtype=int),
    splats: wp.array3d(dtype=float),
    bounds: wp.array3d(dtype=int),
    seen: wp.array3d(dtype=float),
    last: wp.array2d(dtype=int),
    light: wp.array2d(dtype=float),
    behind: wp.array2d(dtype=float),
    gradients: wp.array3d(dtype=float),
):
    """Gradients of the columns u, v, a, b, c, opacity and of the three colours, added to `gradients`.

    `seen` is the gradient of the image; `light` what `blend` left, and `behind` it times its own gradient: both are used up, from back
    to front, as the light before, and the gradient through all that is behind, the present Gaussian.
    """
    picture, down, across = wp.tid()
    block = block_at(grid, down, across)
    for n in range(bounds[picture, block.tile, 1] - bounds[picture, block.tile, 0]):
        k = bounds[picture, block.tile, 1] - 1 - n
        i = lists[k]
        it = ellipse_of(splats, picture, i)
        if it.cut < 0.0:
            continue
        colour = wp.vec3(colours[i, 0], colours[i, 1], colours[i, 2])
        d_centre = wp.vec2()
        d_conic = wp.vec3()
        d_colour = wp.vec3()
        d_opacity = wp.float32(0.0)
        for y in range(first_pixel(it.v - it.reach, block.top, block.bottom), end_pixel(it.v + it.reach, block.top, block.bottom)):
            dy = float(y) + 0.5 - it.v
            span = half_span(it, dy)
            if span < 0.0:
                continue
            middle = it.u - it.b * dy / it.a
            for x in range(first_pixel(middle - span, block.left, block.right), end_pixel(middle + span, block.left, block.right)):
                dx = float(x) + 0.5 - it.u
                q = exponent(it, dx, dy)
                p = y * grid.width + x
                if q <= it.cut and k < last[picture, p]:
                    fall = wp.exp(-q)
                    whole = it.opacity * fall
                    alpha = wp.min(whole, MOST)
                    before = light[picture, p] / (1.0 - alpha)
                    d_pixel = vector(seen, picture, p)
                    own = wp.dot(d_pixel, colour)
                    rest = behind[picture, p]
                    d_colour += alpha * before * d_pixel
                    light[picture, p] = before
                    behind[picture, p] = rest + alpha * before * own
                    if whole <= MOST:
                        d_alpha = before * own - rest / (1.0 - alpha)
                        d_q = -alpha * d_alpha
                        d_opacity += fall * d_alpha
                        d_centre -= d_q * wp.vec2(it.a * dx + it.b * dy, it.b * dx + it.c * dy)
                        d_conic += d_q * wp.vec3(0.5 * dx * dx, dx * dy, 0.5 * dy * dy)
        add(gradients, picture, i, U, wp.vec3(d_centre[0], d_centre[1], d_conic[0]))
        add(gradients, picture, i, B, wp.vec3(d_conic[1], d_conic[2], d_opacity))
        add(gradients, picture, i, COLOUR, d_colour)


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
    add(d_cameras, picture, row, 0, turn)
    wp.atomic_add(d_cameras, picture, row, 3, shift)


@wp.func
def of_spread(it: Ellipse, d_conic: wp.vec3) -> wp.vec3:
    """From the gradients of a conic, the inverse, to those of variance across, covariance and variance along."""
    a = it.a
    b = it.b
    c = it.c
    return -wp.vec3(
        a * a * d_conic[0] + a * b * d_conic[1] + b * b * d_conic[2],
        2.0 * a * b * d_conic[0] + (a * c + b * b) * d_conic[1] + 2.0 * b * c * d_conic[2],
        b * b * d_conic[0] + b * c * d_conic[1] + c * c * d_conic[2],
    )


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
    it = ellipse_of(splats, picture, i)
    if it.cut < 0.0:
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

    d_conic = wp.vec3(gradients[picture, i, A], gradients[picture, i, B], gradients[picture, i, C])
    d_spread = of_spread(it, d_conic)
    d_xx = d_spread[0]
    d_xy = d_spread[1]
    d_yy = d_spread[2]
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

"""Which Gaussians touch which tiles of the pictures, from near to far."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from akd_sdk.splat.projection import Projected


@dataclass(frozen=True)
class Blocks:
    """How the pixels of pictures are shared out to threads.

    Attributes:
        block: pixels a side that one thread fills; a divisor of `tile`. None is the whole picture.
        tile: pixels a side that share one list of Gaussians. None is the whole picture.
    """

    block: int | None = None
    tile: int | None = None

    def sides(self, size: tuple[int, int]) -> tuple[int, int]:
        """Pixels a side of a block and of a tile in pictures of that height and width."""
        return self.block or max(size), self.tile or max(size)

    def count(self, size: tuple[int, int]) -> tuple[int, int]:
        """Blocks of a picture, down and across."""
        block, _ = self.sides(size)
        return -(-size[0] // block), -(-size[1] // block)

    def lists(self, projected: Projected, reach: Tensor, size: tuple[int, int]) -> tuple[Tensor, Tensor]:
        """Gaussians of the tiles of all pictures, each from near to far; see `tile_lists`."""
        return whole_lists(projected) if self.tile is None else tile_lists(projected, reach, size, self.tile)


def whole_lists(projected: Projected) -> tuple[Tensor, Tensor]:
    """One tile a picture, with all Gaussians: the lists (entries,) one after another, and where each begins and ends
    (pictures, tiles, 2), int32."""
    pictures, count = projected.order.shape
    ends = torch.arange(pictures + 1, dtype=torch.int32, device=projected.order.device) * count
    return projected.order.to(torch.int32).reshape(-1), torch.stack([ends[:-1], ends[1:]], -1)[:, None]


def tile_lists(projected: Projected, reach: Tensor, size: tuple[int, int], tile: int) -> tuple[Tensor, Tensor]:
    """The same for tiles of `tile` pixels a side: a Gaussian is in those that its box (centre and `reach`, pixels) touches.

    Tiles go by picture, row, column.
    """
    order = projected.order
    pictures, device = len(order), order.device
    down, across = (-(-side // tile) for side in size)
    most = torch.tensor([across, down], device=device)
    centres = projected.centres.detach()
    first = torch.minimum(((centres - reach - 1) / tile).floor().clamp(min=0), most).long()
    end = torch.minimum(((centres + reach + 1) / tile).floor().clamp(min=-1) + 1, most).long()
    wide, high = (end - first).clamp(min=0).unbind(-1)
    touched = torch.take_along_dim(torch.where(projected.cuts >= 0, wide * high, 0), order, 1).reshape(-1)
    entry = torch.repeat_interleave(torch.arange(order.numel(), device=device), touched)
    within = torch.arange(len(entry), device=device) - (torch.cumsum(touched, 0) - touched)[entry]
    picture, gaussian = entry // max(order.shape[1], 1), order.reshape(-1)[entry]
    columns = wide[picture, gaussian]
    at = first[picture, gaussian] + torch.stack([within % columns, within // columns], -1)
    tiles = (picture * down + at[:, 1]) * across + at[:, 0]
    tiles, by_tile = torch.sort(tiles, stable=True)  # stable: each list stays sorted by depth
    ends = torch.searchsorted(tiles, torch.arange(pictures * down * across + 1, device=device)).to(torch.int32)
    return gaussian[by_tile].to(torch.int32), torch.stack([ends[:-1], ends[1:]], -1).reshape(pictures, down * across, 2)

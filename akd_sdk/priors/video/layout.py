"""Lengths and sizes of videos that a model takes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from akd_sdk.errors import AkdError


@dataclass(frozen=True)
class Layout:
    """Videos of one model: the ones it was trained on unless chosen otherwise, and the rule that others keep.

    Attributes:
        title: the model's name, for messages.
        frames, size, fps: of its videos; size is height and width in pixels.
        frame_step, frame_first: lengths are `frame_first + k frame_step`, k >= 0.
        multiple: both sides are multiples of it, pixels.
        largest: longest sides that its positions reach, height and width in pixels; None where they have no end.
    """

    title: str
    frames: int
    size: tuple[int, int]
    fps: float
    frame_step: int
    frame_first: int
    multiple: int
    largest: tuple[int, int] | None = None

    @property
    def tokens(self) -> int:
        """Tokens of one video in the model's transformer: one for so many frames and pixels a side as the rule goes in steps of."""
        height, width = self.size
        return -(-self.frames // self.frame_step) * (height // self.multiple) * (width // self.multiple)

    def chosen(self, frames: int | None, size: tuple[int, int] | None) -> Layout:
        """The layout with another length or size; AkdError names the nearest that the model takes."""
        number = self.frames if frames is None else frames
        height, width = self.size if size is None else size
        self._check_frames(number)
        self._check_size(height, width)
        return replace(self, frames=number, size=(height, width))

    def _check_frames(self, frames: int) -> None:
        over = frames - self.frame_first
        if over >= 0 and over % self.frame_step == 0:
            return
        below = self.frame_first + max(over, 0) // self.frame_step * self.frame_step
        near = f"{self.frame_first}" if over < 0 else f"{below} or {below + self.frame_step}"
        rule = f"{self.frame_step} k + {self.frame_first % self.frame_step}"
        raise AkdError(f"{self.title} takes no videos of {frames} frames, but of {rule}", "frames", f"give {near}")

    def _check_size(self, height: int, width: int) -> None:
        tallest, widest = self.largest or (1 << 20, 1 << 20)
        if all(0 < side <= end and side % self.multiple == 0 for side, end in ((height, tallest), (width, widest))):
            return
        near = " x ".join(str(self._nearest(side, end)) for side, end in ((width, widest), (height, tallest)))
        fault = f"{self.title} takes no videos of {width} x {height} pixels, but sides that are multiples of {self.multiple}"
        if self.largest is not None:
            fault += f" up to {widest} x {tallest}"
        raise AkdError(fault, "size", f"give {near}")

    def _nearest(self, side: int, end: int) -> int:
        steps = round(side / self.multiple)
        return min(max(steps, 1), end // self.multiple) * self.multiple

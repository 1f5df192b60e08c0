"""Gradients through a part of a model that forgets what it computed, and computes it again when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_unflatten
from torch.utils.checkpoint import checkpoint

Told = Callable[[], AbstractContextManager[None]]
"""Makes the context in which a gradient is taken."""


def recomputed(run: Callable[[Any], Any], given: Any) -> Any:
    """`run(given)`, whose inner values are not kept; `given` and the answer may be tensors nested in lists, tuples and dictionaries.

    Tensors travel one by one, so that hooks on what is kept (see `spilled`) reach those that are nested.
    `run` must give the same answer again and change nothing outside.
    """
    leaves, form = tree_flatten(given)
    forms: list[Any] = []

    def flat(*values: Any) -> tuple[Any, ...]:
        out, out_form = tree_flatten(run(tree_unflatten(list(values), form)))
        forms[:] = [out_form]
        return tuple(out)

    # nothing here draws random numbers (models are in eval mode), so their state need not be carried
    out = checkpoint(flat, *leaves, use_reentrant=False, preserve_rng_state=False)
    return tree_unflatten(list(out), forms[0])


class _Guarded(torch.autograd.Function):
    """A map whose gradient is taken by a graph of its own, so that what goes wrong on the way back can be told."""

    @staticmethod
    def forward(ctx: Any, given: Tensor, run: Callable[[Tensor], Tensor], again: bool, told: Told) -> Tensor:
        ctx.run, ctx.told, ctx.graph = run, told, None
        if again:
            ctx.save_for_backward(given)
            return run(given)
        with torch.enable_grad():
            leaf = given.detach().requires_grad_()
            out = run(leaf)
        ctx.graph = (leaf, out)
        return out.detach()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        with ctx.told():
            if ctx.graph is None:
                (given,) = ctx.saved_tensors
                with torch.enable_grad():
                    leaf = given.detach().requires_grad_()
                    ctx.graph = (leaf, ctx.run(leaf))
            leaf, out = ctx.graph
            ctx.graph = None
            (gradient,) = torch.autograd.grad(out, leaf, grad_outputs=gradients)
        return gradient, None, None, None


def guarded(run: Callable[[Tensor], Tensor], given: Tensor, *, again: bool, told: Told) -> Tensor:
    """`run(given)`, whose gradient can be taken once, inside the context that `told` makes.

    again: keep nothing but `given`, and run a second time for the gradient.
    """
    out: Tensor = _Guarded.apply(given, run, again, told)  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return out


@contextmanager
def spilled(device: torch.device) -> Iterator[None]:
    """What is kept for the gradient inside the block lies in CPU memory until it is needed."""
    with torch.autograd.graph.save_on_cpu(pin_memory=device.type == "cuda"):
        yield


class Residence:
    """A model that is on the device only while it is needed; its weights stay in CPU memory all along.

    The weights never change, so leaving costs nothing: what is on the device is dropped.
    """

    def __init__(self, model: nn.Module, device: torch.device) -> None:
        self._device = device
        self._home = [
            (module, name, tensor)
            for module in model.modules()
            for name, tensor in (*module.named_parameters(recurse=False), *module.named_buffers(recurse=False))
        ]
        self.present = device.type == "cpu"

    def enter(self) -> None:
        """Be on the device."""
        if self.present:
            return
        moved: dict[int, Tensor] = {}  # what two modules share stays shared
        for module, name, tensor in self._home:
            if id(tensor) not in moved:
                away = tensor.detach().to(self._device)
                moved[id(tensor)] = nn.Parameter(away, requires_grad=False) if isinstance(tensor, nn.Parameter) else away
            setattr(module, name, moved[id(tensor)])
        self.present = True

    def leave(self) -> None:
        """Be on the CPU alone."""
        if not self.present or self._device.type == "cpu":
            return
        for module, name, tensor in self._home:
            setattr(module, name, tensor)
        self.present = False
        torch.cuda.empty_cache()


def chunked(encode: Callable[[Tensor, Any], tuple[Tensor, Any]], chunks: list[Tensor], forget: bool) -> Tensor:
    """Moments of a video that an encoder takes in chunks of frames, each with what the ones before it left in its cache.

    Args:
        encode: moments and cache of one chunk (views, channels, frames, height, width), given the cache left by the one before
            (None for the first).
        chunks: the video's frames.
        forget: whether chunks are recomputed for the gradient.

    Returns:
        (views, channels, latent frames, height, width).
    """
    cache: Any = None
    moments = []
    for chunk in chunks:
        if forget and torch.is_grad_enabled():
            part, cache = recomputed(lambda given: encode(*given), (chunk, cache))
        else:
            part, cache = encode(chunk, cache)
        moments.append(part)
    return torch.cat(moments, dim=2)

"""Which weights a model has, as a short text: what was begun with some is not to be gone on with by others."""

from __future__ import annotations

import hashlib
from typing import Final

from torch import nn

FEW: Final = 64
"""Numbers looked at of each tensor: training moves all of them, and reading more would take minutes for the largest models."""


def mark_of(*models: nn.Module) -> str:
    """The same for the same weights in the same precision, another for others."""
    mark = hashlib.sha256()
    for model in models:
        for name, value in model.state_dict().items():
            mark.update(f"{name} {tuple(value.shape)} {value.dtype}".encode())
            mark.update(value.detach().flatten()[:FEW].float().cpu().numpy().tobytes())
    return mark.hexdigest()[:16]

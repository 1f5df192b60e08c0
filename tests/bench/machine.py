"""What a benchmark ran on, in one line."""

from __future__ import annotations

import os
import platform

import numpy as np
import torch


def machine() -> str:
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"torch {torch.__version__} with {torch.get_num_threads()} threads, numpy {np.__version__}"
    )

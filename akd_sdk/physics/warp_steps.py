"""Steps by MuJoCo Warp: many runs at once, each in a world of its own, on a CUDA device (on the CPU only to compare)."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import BackendError
from akd_sdk.physics import engine

Array = NDArray[np.float64]

CONTACTS = {"box": 8, "capsule": 2}
"""Points at which a shape can touch the ground."""
CONSTRAINTS = 4
"""Rows of a contact, at most: elliptic cones have three, pyramids four."""


class WarpSteps:
    """The steps of a MuJoCo model on a device of Warp, in single precision."""

    def __init__(self, model: Any, device: str) -> None:
        """model: mujoco.MjModel; device: "cuda", "cuda:1", or "cpu".

        Kernels are compiled the first time on a machine, which takes most of a minute.

        Raises BackendError: the package, the device or a folder for kernels is missing.
        """
        self._model, self.device = model, device
        with engine.compiling(), engine.quietly():
            self._library = _library()
            check_device(device)

    def step(self, states: Array, controls: Array) -> Array:
        """States (runs, steps, 1 + coordinates + rates) from states (runs, ...) under inputs (runs, steps, inputs).

        Drives and caps of the model are taken as they are at the call.
        """
        import warp as wp

        model, count = self._model, len(states)
        coordinates, rates = slice(1, 1 + model.nq), slice(1 + model.nq, 1 + model.nq + model.nv)
        inputs = np.ascontiguousarray(np.swapaxes(controls, 0, 1), dtype=np.float32)
        made = np.empty((count, controls.shape[1], states.shape[1]))
        made[..., 0] = states[:, :1] + np.arange(1, controls.shape[1] + 1) * model.opt.timestep
        with engine.compiling(), engine.quietly(), wp.ScopedDevice(self.device):
            there = self._put()
            data = self._worlds(count)
            data.qpos.assign(states[:, coordinates].astype(np.float32))
            data.qvel.assign(states[:, rates].astype(np.float32))
            given: Any = wp.array(inputs, dtype=wp.float32)
            positions: Any = wp.empty((controls.shape[1], count, model.nq), dtype=wp.float32)
            speeds: Any = wp.empty((controls.shape[1], count, model.nv), dtype=wp.float32)
            for k in range(controls.shape[1]):
                wp.copy(data.ctrl, given[k])
                self._library.step(there, data)
                wp.copy(positions[k], data.qpos)
                wp.copy(speeds[k], data.qvel)
            made[..., coordinates] = np.swapaxes(positions.numpy(), 0, 1)
            made[..., rates] = np.swapaxes(speeds.numpy(), 0, 1)
        return made

    def _put(self) -> Any:
        """The model on the device; it knows no resets, and refuses a model that forbids them."""
        options, forbidden = self._model.opt, int(engine.mujoco().mjtDisableBit.mjDSBL_AUTORESET)
        before = options.disableflags
        options.disableflags = before & ~forbidden
        try:
            return self._library.put_model(self._model)
        finally:
            options.disableflags = before

    def _worlds(self, count: int) -> Any:
        """Room for so many worlds in which every shape may touch the ground with all its points."""
        mujoco = engine.mujoco()
        kinds = {int(mujoco.mjtGeom.mjGEOM_BOX): "box", int(mujoco.mjtGeom.mjGEOM_CAPSULE): "capsule"}
        contacts = sum(CONTACTS[kinds[int(kind)]] for kind in self._model.geom_type if int(kind) in kinds)
        limits = int(self._model.jnt_limited.sum())
        return self._library.make_data(self._model, nworld=count, nconmax=contacts, njmax=CONSTRAINTS * contacts + limits)


def _library() -> ModuleType:
    try:
        import mujoco_warp
    except ImportError as missing:
        fault = f"steps on a device need {missing.name}, which is not installed"
        raise BackendError(fault, "mujoco-warp", "pip install mujoco-warp") from missing
    module: ModuleType = mujoco_warp
    return module


def check_device(device: str) -> None:
    """Raise BackendError where Warp has no such device."""
    import warp as wp

    known = [str(one.alias) for one in wp.get_devices()]
    name = "cuda:0" if device == "cuda" else device
    if name not in known:
        hint = f"here are {', '.join(known)}; an NVIDIA driver is needed for cuda"
        raise BackendError(f"nothing can be simulated on the device {device!r}", "--device", hint)

"""Readers: a file becomes a `Rig` with its `Motion`s."""

from akd_sdk.readers.open import open_rig

__all__ = ["open_rig"]

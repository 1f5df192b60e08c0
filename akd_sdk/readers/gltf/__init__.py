"""glTF 2.0 (.glb, .gltf, .vrm) as a `Rig`."""

from akd_sdk.readers.gltf.read import read_gltf

__all__ = ["read_gltf"]

"""Keys in buffer views compressed by meshoptimizer, with bits for every track from its lever arm."""

from akd_sdk.exporters.reduction.meshopt.encoded import Channel, Encoded, Place, View
from akd_sdk.exporters.reduction.meshopt.search import Compressed, compress

__all__ = ["Channel", "Compressed", "Encoded", "Place", "View", "compress"]

"""A checker of clips: what public validators do not see, by what engines were measured to make of it."""

from akd_sdk.exporters.check.codes import CODES
from akd_sdk.exporters.check.findings import SEVERITIES, Code, Finding
from akd_sdk.exporters.check.run import check

__all__ = ["CODES", "SEVERITIES", "Code", "Finding", "check"]

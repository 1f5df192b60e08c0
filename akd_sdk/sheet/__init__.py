"""Pictures of characters: contact sheets by a software rasteriser."""

from akd_sdk.sheet.contact_sheet import contact_sheet, save_sheet

__all__ = ["contact_sheet", "save_sheet"]

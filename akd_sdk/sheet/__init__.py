"""Pictures of characters: contact sheets by a software rasteriser or by Gaussians, and animated previews."""

from akd_sdk.sheet.contact_sheet import RENDERERS, contact_sheet, save_sheet
from akd_sdk.sheet.preview import save_preview

__all__ = ["RENDERERS", "contact_sheet", "save_preview", "save_sheet"]

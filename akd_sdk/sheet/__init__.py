"""Pictures of characters: contact sheets by a software rasteriser or by Gaussians, animated previews, and plots of trackings."""

from akd_sdk.sheet.contact_sheet import RENDERERS, contact_sheet, save_sheet
from akd_sdk.sheet.plot import save_plot, track_plot
from akd_sdk.sheet.preview import save_preview

__all__ = ["RENDERERS", "contact_sheet", "save_plot", "save_preview", "save_sheet", "track_plot"]

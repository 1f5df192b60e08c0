"""Priors that look at pixels: video models of diffusers behind one form, loaded from local checkpoints."""

from akd_sdk.priors.video.base import LatentVideoPrior, VideoOptions
from akd_sdk.priors.video.families import FAMILIES
from akd_sdk.priors.video.load import load_video_prior
from akd_sdk.priors.video.memory import MemoryPlan, plan

__all__ = ["FAMILIES", "LatentVideoPrior", "MemoryPlan", "VideoOptions", "load_video_prior", "plan"]

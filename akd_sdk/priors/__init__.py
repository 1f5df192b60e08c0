"""Priors: models that know which motion a sentence means."""

from akd_sdk.priors.prior import Prior, VideoPrior, load_prior, prior_names
from akd_sdk.priors.prompt import Prompt

__all__ = ["Prior", "Prompt", "VideoPrior", "load_prior", "prior_names"]

"""Characters made by code; `python -m samples.quadruped` and `python -m samples.biped` write them anew."""

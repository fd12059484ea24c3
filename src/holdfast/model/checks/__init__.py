"""Checks of a parsed definition, one topic per module; `model/validate.py` runs all of them."""

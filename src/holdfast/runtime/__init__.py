"""Doing: drives segments and effects, keeps instances alive, carries results back."""

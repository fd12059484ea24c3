"""Holdfast in other frameworks."""

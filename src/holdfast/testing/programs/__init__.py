"""Workflow functions, random or written to be difficult, run twice: as plain Python and compiled. Both must agree."""

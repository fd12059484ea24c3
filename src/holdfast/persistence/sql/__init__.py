"""Stores on SQL databases: the statements are written once, as scripts without I/O; a driver per database runs them."""

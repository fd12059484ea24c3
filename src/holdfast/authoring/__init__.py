"""Authoring API: activities as functions and classes, and workflows as trees of objects that map one to one to JSON."""

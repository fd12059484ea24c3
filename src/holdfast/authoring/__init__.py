"""How people write: activities as functions and classes, workflows as trees of objects, one to one with JSON."""

"""Typed values and JSON: what an instance's state may hold, and how it comes back with the same type.

JSON's own values stand for themselves. Everything else is an object with the key `$t`, which says what it is:

    {"$t": "decimal", "v": "1.5"}          {"$t": "enum", "of": "shop:Colour", "v": "RED"}
    {"$t": "tuple", "v": [1, 2]}           {"$t": "object", "of": "shop:Order", "v": {"id": 7}}

A dict that has the key `$t` itself, or keys that are not text, is written as pairs (`{"$t": "dict", "v": [[k, v], …]}`),
so data that looks like a tag stays data. Class names resolve only through a `TypeRegistry`: nothing is imported
because data names it, and nothing is pickled. People never see a tag: `shown` and `readable` give them plain JSON.
"""

from __future__ import annotations

from holdfast.model.values.check import SCALARS, check
from holdfast.model.values.copies import copy
from holdfast.model.values.decoder import decode
from holdfast.model.values.display import readable, shown
from holdfast.model.values.encoder import encode
from holdfast.model.values.exceptions import KeptException, exception_names
from holdfast.model.values.omitted import Omitted
from holdfast.model.values.previews import preview
from holdfast.model.values.registry import TypeRegistry
from holdfast.model.values.trees import Tree, is_large, tree_of

__all__ = [
    "SCALARS",
    "KeptException",
    "Omitted",
    "Tree",
    "TypeRegistry",
    "check",
    "copy",
    "decode",
    "encode",
    "exception_names",
    "is_large",
    "preview",
    "readable",
    "shown",
    "tree_of",
]

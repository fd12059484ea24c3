"""Encoding of typed values as JSON, for the state of instances. Decoding restores the types.

JSON's own types are written as they are. Other values are an object with the key `$t`, which names the type:

    {"$t": "decimal", "v": "1.5"}          {"$t": "enum", "of": "shop:Color", "v": "RED"}
    {"$t": "tuple", "v": [1, 2]}           {"$t": "object", "of": "shop:Order", "v": {"id": 7}}

A dict that has a key `$t`, or keys that are not text, is written as pairs (`{"$t": "dict", "v": [[k, v], …]}`), so that data
that looks like a tag stays data. Class names resolve only through a `TypeRegistry`: data never causes an import, and nothing is
pickled. `shown` and `readable` give users plain JSON without tags.
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

"""The tree of activations."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from holdfast.execution.activation import FAULTED, Activation


def activation(id: int, *kids: Activation, status: int = 0) -> Activation:
    node: Any = SimpleNamespace(key=f"n{id}")
    scope: Any = []
    return Activation(id, node, None, scope, scope, status, kids={kid.id: kid for kid in kids} or None)


def test_descendants_are_all_activations_below_nearest_first() -> None:
    tree = activation(1, activation(2, activation(4), activation(5, activation(6))), activation(3))

    assert [item.id for item in tree.descendants()] == [2, 3, 4, 5, 6]
    assert activation(7).descendants() == []


def test_an_activation_is_shown_with_node_and_status() -> None:
    assert repr(activation(3, status=FAULTED)) == "<Activation 3 n3 faulted>"

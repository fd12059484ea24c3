"""Inputs and ports of a descriptor, by name."""

from __future__ import annotations

from holdfast.model.descriptor import ActivityDescriptor, InputDescriptor, PortDescriptor

DESCRIPTOR = ActivityDescriptor(
    type="If", inputs=(InputDescriptor(name="condition"),), ports=(PortDescriptor(name="then"),)
)


def test_an_input_and_a_port_are_found_by_name() -> None:
    assert DESCRIPTOR.input("condition") is DESCRIPTOR.inputs[0]
    assert DESCRIPTOR.port("then") is DESCRIPTOR.ports[0]


def test_an_unknown_name_is_none() -> None:
    assert DESCRIPTOR.input("then") is None
    assert DESCRIPTOR.port("condition") is None

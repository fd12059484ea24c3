"""Flowcharts: activities joined by connections, in counter mode (the default) or token mode."""

from __future__ import annotations

from holdfast.activities.control.flowchart.chart import Flowchart
from holdfast.activities.control.flowchart.nodes import FlowDecision, FlowFork, FlowJoin, FlowSwitch

__all__ = ["FlowDecision", "FlowFork", "FlowJoin", "FlowSwitch", "Flowchart"]

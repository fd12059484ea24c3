"""Holdfast's figures: `make bench` measures and prints them; see docs/benchmarks.md."""

"""Benchmarks of Holdfast: `make bench` measures and prints them; see docs/benchmarks.md."""

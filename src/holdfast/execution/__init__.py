"""Execution core: compiles a definition to a plan and runs bursts of it. No clock, no store and no network."""

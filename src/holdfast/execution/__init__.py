"""Thinking: a definition compiled to a plan, and bursts that run it. No clock, no store, no network in here."""

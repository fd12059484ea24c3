"""Hostile requests against a server: what it answers, what another client sees meanwhile, and what remains in memory."""

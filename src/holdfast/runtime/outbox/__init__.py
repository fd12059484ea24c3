"""Lifecycle events on their way out: the relay of the outbox table, and webhooks."""

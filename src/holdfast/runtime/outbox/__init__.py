"""Delivery of lifecycle events: the relay of the outbox table, and webhooks."""

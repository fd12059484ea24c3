"""Accounts: users, roles, API keys and sessions, stored as records."""

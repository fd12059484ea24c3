"""Accounts: users, roles, API keys, sessions; who they are is kept as records of the store."""

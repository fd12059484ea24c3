"""The server under load: a real client, in a process of its own, against `holdfast serve` on SQLite with sign-in."""

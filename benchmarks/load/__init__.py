"""Load test of the server: a real client in its own process, against `holdfast serve` on SQLite with sign-in."""

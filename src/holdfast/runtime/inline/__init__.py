"""The runner: executes workflows in this process without a store."""

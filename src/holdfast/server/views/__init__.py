"""From rows, states and journals to payloads. No routes here, and no HTTP."""

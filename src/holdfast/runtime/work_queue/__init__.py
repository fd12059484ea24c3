"""The work table: polling, claims, quarantine after crashes, schedules, bulk alterations."""

"""Plans that instances run: compiled definitions, current versions, triggers, missing code."""

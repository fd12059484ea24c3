"""Live updates: who follows instances and lists hears what changes, wherever it changes."""

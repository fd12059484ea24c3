"""Expressions that try to hold a process: endless native calls, more than linear time, more memory than there is."""

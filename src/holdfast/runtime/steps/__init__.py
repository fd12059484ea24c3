"""Steps: effects that a queue carries to any worker that serves it."""

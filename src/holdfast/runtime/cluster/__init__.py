"""This process as a member of a cluster: the node, its heartbeat, singleton tasks, workers and hosts."""

"""The runtime of a node: commits, effects, stimuli, steps, the work queue and the cluster."""

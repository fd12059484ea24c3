"""Readiness, metrics and logs of this process, for servers and for the probe of a worker."""

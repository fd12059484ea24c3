"""For users' tests and ours: the contract suites of the ports."""

"""The working tree against an earlier commit: both run the same rounds in turn, in one run on one machine."""

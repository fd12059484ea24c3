"""Instances for operators: client, retry and cancel, alterations, forks, families."""

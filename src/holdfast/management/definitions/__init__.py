"""Definitions in a store: drafts, versions, publishing, dry runs, providers, workflows used as activities."""

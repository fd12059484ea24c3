"""Job types: each is one delivery to one instance."""

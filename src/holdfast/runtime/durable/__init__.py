"""Instances with storage: lanes that run bursts and commit them together, and the clients that ask for them."""

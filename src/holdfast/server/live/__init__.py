"""Live updates: subscribers of instances and lists receive changes made on any node."""

"""Jobs, batches and commits: everything between a request for one instance and its row in the store."""

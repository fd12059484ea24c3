"""Effects on this node: execution, thread and process pools, takeover from dead nodes, cancellation."""

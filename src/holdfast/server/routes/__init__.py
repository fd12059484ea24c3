"""REST routes, one module per resource: parameters, required permission, and response."""

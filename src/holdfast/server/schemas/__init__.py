"""What goes over the wire, as pydantic models: the OpenAPI document and every generated client come from here."""

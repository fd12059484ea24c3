"""Payloads of the API as pydantic models: source of the OpenAPI document and of all generated clients."""

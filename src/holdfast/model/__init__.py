"""Data model: frozen data and pure functions, independent of execution and storage."""

"""Parser of definition documents; the entry point is `model/reader.py`."""

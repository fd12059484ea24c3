"""How a JSON document becomes a definition; `model/reader.py` is the way in."""

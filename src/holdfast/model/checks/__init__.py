"""What can be wrong with a definition that was read, one file per question; `model/validate.py` asks them all."""

"""`python -m holdfast.cli`, where the `holdfast` script is not on the path."""

from __future__ import annotations

from holdfast.cli import main

main()

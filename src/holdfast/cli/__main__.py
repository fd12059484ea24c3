"""`python -m holdfast.cli`, for environments without the `holdfast` script on the path."""

from __future__ import annotations

from holdfast.cli import main

main()

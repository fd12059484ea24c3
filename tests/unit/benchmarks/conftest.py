"""The benchmarks are a package of the repository, not of the distribution: found from its root, as `make bench` finds them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

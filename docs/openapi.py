"""Writes `studio/openapi.json` from the routes: `make openapi`. The Studio's types are generated from it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

TARGET = Path(__file__).parent.parent / "studio" / "openapi.json"


def written() -> str:
    """The document as text; the same for the same routes, wherever it is made."""
    from holdfast.engine import Holdfast
    from holdfast.server.app import make_api
    from holdfast.server.backend import Backend

    engine = Holdfast(entry_points=False)
    try:
        document = make_api(Backend(engine)).openapi()
    finally:
        engine.close()
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    TARGET.write_text(written(), encoding="utf-8")
    print(f"wrote {TARGET.name}", file=sys.stderr)

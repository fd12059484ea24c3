"""Generator of `studio/openapi.json` from the routes, and of the client's types from that document: `make openapi`.

The Studio's types are generated from `studio/openapi.json` when the Studio is built.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

TARGET = Path(__file__).parent.parent / "studio" / "openapi.json"


def written() -> str:
    """The document as text; equal for equal routes on every machine."""
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
    import client_types  # type: ignore[import-not-found]  # beside this file

    document = written()
    TARGET.write_text(document, encoding="utf-8")
    client_types.TARGET.write_text(client_types.client_types(json.loads(document)), encoding="utf-8")
    print(f"wrote {TARGET.name} and {client_types.TARGET.name}", file=sys.stderr)

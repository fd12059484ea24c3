"""The Studio: static files built into the package, with `index.html` for every path of its router.

Files under `assets/` carry a hash in their names and are cached as immutable; all other files are revalidated. A file with
a `.br` or `.gz` sibling is sent compressed to clients that accept the encoding.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from starlette.datastructures import Headers
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.types import Receive, Scope, Send

from holdfast.server.problems import problem

FOLDER = Path(__file__).parent / "studio"
RESERVED_PREFIXES = ("api", "elsa", "workflows", "health", "metrics")
"""First path segments of the API, and of the API of Elsa, which clients may try: unknown paths below them are 404, not a page of
the Studio."""
MODULES = "studio-plugins"
"""Path of the modules of plugins."""
ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
CACHE_IMMUTABLE = "public, max-age=31536000, immutable"
CACHE_REVALIDATE = "no-cache"
BASE_TAG = '<base href="/">'

MISSING = """<!doctype html><title>Holdfast</title><h1>Holdfast</h1>
<p>The server runs; the Studio is not part of this build. Build it with <code>make studio</code>.</p>
<p>The API: <a href="api/openapi.json">api/openapi.json</a></p>
"""


class Studio:
    """An ASGI application: the fallback for paths that no route serves."""

    def __init__(
        self, base_path: str, folder: Path = FOLDER, *, modules: Mapping[str, Path] = MappingProxyType({})
    ) -> None:
        self._base = base_path
        self._modules = {f"{MODULES}/{name}.js": file for name, file in modules.items()}
        self._folder = folder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        await self._answer(scope)(scope, receive, send)

    def _answer(self, scope: Scope) -> Response:
        path = str(scope["path"]).removeprefix(str(scope.get("root_path", ""))).strip("/")
        if scope["method"] not in {"GET", "HEAD"} or path.partition("/")[0] in RESERVED_PREFIXES:
            return problem(404, "route.not_found", "Nothing is served at this address.", path=scope["path"])
        if path == "config.json":
            return JSONResponse(
                {"api": self._base, "plugins": list(self._modules)}, headers={"Cache-Control": CACHE_REVALIDATE}
            )
        if path in self._modules:
            return FileResponse(
                self._modules[path], media_type="text/javascript", headers={"Cache-Control": CACHE_REVALIDATE}
            )
        found = self._file(path)
        if found is not None and found.name != "index.html":
            return self._sent(found, Headers(scope=scope))
        if PurePosixPath(path).suffix and path.startswith("assets/"):
            return problem(404, "route.not_found", "There is no such file.", path=scope["path"])
        return self._index()

    def _file(self, path: str) -> Path | None:
        if not path or "\0" in path:
            return None
        found = (self._folder / path).resolve()
        return found if found.is_relative_to(self._folder.resolve()) and found.is_file() else None

    def _index(self) -> Response:
        index = self._folder / "index.html"
        page = index.read_text(encoding="utf-8") if index.is_file() else MISSING
        return HTMLResponse(
            page.replace(BASE_TAG, f'<base href="{self._base}/">'), headers={"Cache-Control": CACHE_REVALIDATE}
        )

    def _sent(self, found: Path, headers: Headers) -> Response:
        lasting = {"Cache-Control": CACHE_IMMUTABLE if found.parent.name == "assets" else CACHE_REVALIDATE}
        kind = mimetypes.guess_type(found.name)[0] or "application/octet-stream"
        taken = {part.split(";")[0].strip() for part in headers.get("accept-encoding", "").split(",")}
        for encoding, suffix in ENCODINGS:
            packed = found.with_name(found.name + suffix)
            if encoding in taken and packed.is_file():
                return FileResponse(
                    packed,
                    media_type=kind,
                    headers={**lasting, "Content-Encoding": encoding, "Vary": "Accept-Encoding"},
                )
        return FileResponse(found, media_type=kind, headers=lasting)

"""Static files of a built documentation site, served read-only under `/docs`.

The pages of the site contain small inline scripts, such as the one that applies the palette. The policy of a page allows
exactly its own inline scripts, by hash. Everything else is as strict as for the Studio.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from functools import lru_cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from holdfast.errors import SettingsError

PATH = "/docs"
INDEX = "index.html"
CACHE_CONTROL = "no-cache"
INLINE_SCRIPT = re.compile(rb"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
POLICY = (
    "default-src 'self'; script-src 'self'{hashes}; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
    "font-src 'self' data:; worker-src 'self' blob:; object-src 'none'; base-uri 'self'; frame-ancestors 'none'; "
    "form-action 'self'"
)


def documentation_routes(folder: Path) -> list[BaseRoute]:
    """The routes of the site in this folder; `SettingsError` if the folder holds no site."""
    if not (folder / INDEX).is_file():
        raise SettingsError(
            f"The setting docs_dir names '{folder}', which has no {INDEX}. Build the site with `make site`, or leave the "
            "setting empty."
        )
    return [Route(PATH, _redirect, include_in_schema=False), Mount(PATH, Documentation(directory=folder))]


async def _redirect(request: Request) -> Response:
    """The links of the pages are relative, so the address of the index must end with a slash."""
    return RedirectResponse(f"{request.scope.get('root_path', '')}{PATH}/")


class Documentation(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        return await super().get_response(INDEX if path == "." else path, scope)

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers["Cache-Control"] = CACHE_CONTROL
        if os.fspath(full_path).endswith(".html"):
            response.headers["Content-Security-Policy"] = _policy(os.fspath(full_path), stat_result.st_mtime_ns)
        return response


@lru_cache(maxsize=256)
def _policy(path: str, changed_ns: int) -> str:
    """`changed_ns` is part of the cache key, so a rebuilt page gets a new policy."""
    scripts = dict.fromkeys(INLINE_SCRIPT.findall(Path(path).read_bytes()))
    return POLICY.format(hashes="".join(f" '{_source_hash(script)}'" for script in scripts))


def _source_hash(script: bytes) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode('ascii')}"

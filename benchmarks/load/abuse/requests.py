"""Hostile requests, made by a seeded generator: malformed, oversized, deep, slow and forged. Each names the expected answers."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

ROUTES = (
    "GET /api/instances",
    "GET /api/definitions",
    "GET /api/tasks",
    "GET /api/users",
    "GET /api/api-keys",
    "GET /api/settings",
    "GET /metrics",
    "POST /api/definitions",
    "POST /api/definitions/tiny/execute",
    "POST /api/definitions/import",
    "POST /api/instances/x/resume",
    "POST /api/instances/bulk",
    "POST /api/events/never",
    "POST /api/stimuli",
    "POST /api/preview",
    "PUT /api/roles/x",
    "DELETE /api/users/admin",
)
OPEN = "/workflows/open"
LOGIN = "/api/auth/login"
ANY_TEXT = "".join(map(chr, range(33, 127)))


class Hostile(NamedTuple):
    """A request. Without expected statuses the client closes the connection and awaits no answer."""

    kind: str
    data: bytes
    expected: frozenset[int]


class Abuse:
    """The generator. `token` signs in for requests that only known callers can send."""

    def __init__(self, seed: int, token: str) -> None:
        self._random = Random(seed)
        self._token = token

    def requests(self, count: int) -> Iterator[Hostile]:
        kinds: list[Callable[[], tuple[bytes, set[int]]]] = [
            self.malformed,
            self.large_head,
            self.many_headers,
            self.unread_body,
            self.large_body,
            self.deep_json,
            self.wide_json,
            self.broken_json,
            self.charset,
            self.forged_token,
            self.forged_key,
            self.forged_link,
            self.other_tenant,
            self.cut_off,
            self.odd_path,
            self.odd_cursor,
            self.spelled_key,
            self.form,
            self.guess,
        ]
        dear = [self.alias_bomb, self.broken_zip, self.deep_file]
        for number in range(count):
            make = self._random.choice(dear if number % 200 == 0 else kinds)
            data, expected = make()
            yield Hostile(make.__name__, data, frozenset(expected))

    # -- bytes ---------------------------------------------------------------------------------------------------------

    def malformed(self) -> tuple[bytes, set[int]]:
        lines = [
            self._random.randbytes(40) + b"\r\n\r\n",
            b"GET / HTTP/7.7\r\n\r\n",
            b"GET /health HTTP/1.1\r\nno colon here\r\n\r\n",
            b"GET /\x00\x01 HTTP/1.1\r\nHost: x\r\n\r\n",
            b"POST /api/events/x HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
            b"POST /api/events/x HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
            b"POST /api/events/x HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + self._random.randbytes(30),
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        ]
        return self._random.choice(lines), {400}

    def large_head(self) -> tuple[bytes, set[int]]:
        size = self._random.randint(33_000, 300_000)
        parts = [b"x-long: " + b"a" * size, b"\r\n".join(b"x-%d: %s" % (n, b"a" * (size // 50)) for n in range(50))]
        return b"GET /health HTTP/1.1\r\nHost: x\r\n" + self._random.choice(parts) + b"\r\n\r\n", {431}

    def many_headers(self) -> tuple[bytes, set[int]]:
        headers = b"".join(b"x-%d: 1\r\n" % number for number in range(self._random.randint(101, 2_000)))
        return b"GET /health HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n", {431}

    def cut_off(self) -> tuple[bytes, set[int]]:
        whole = self._post(LOGIN, b'{"user": "x", "password": "y"}')
        return whole[: self._random.randrange(1, len(whole) - 1)], set()

    # -- bodies --------------------------------------------------------------------------------------------------------

    def unread_body(self) -> tuple[bytes, set[int]]:
        """Announces a body and sends none: the caller is refused first."""
        method, path = self._random.choice(ROUTES).split()
        return f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n".encode(), {401}

    def large_body(self) -> tuple[bytes, set[int]]:
        size = self._random.randint(1_000_001, 1_500_000)
        return self._post(LOGIN, b'{"user": "' + b"a" * size + b'"}'), {413}

    def deep_json(self) -> tuple[bytes, set[int]]:
        depth = self._random.randint(500, 100_000)
        body = self._random.choice((b"[", b'{"a":')) * depth
        return self._post(self._random.choice((LOGIN, OPEN)), body), {400, 422}

    def wide_json(self) -> tuple[bytes, set[int]]:
        body = b"[" + self._random.choice((b"[],", b"1,", b"{},")) * 501_000 + b"1]"
        return self._post(OPEN, body), {413}

    def broken_json(self) -> tuple[bytes, set[int]]:
        text = "".join(self._random.choices(ANY_TEXT, k=200)).encode()
        return self._post(self._random.choice((LOGIN, OPEN)), b"{" + text), {400, 422}

    def charset(self) -> tuple[bytes, set[int]]:
        name = self._random.choice(("punycode", "idna", "utf-7", f"unknown-{self._random.randrange(10**9)}"))
        kind = self._random.choice(
            ("multipart/form-data; boundary=x", "text/plain", "application/x-www-form-urlencoded")
        )
        path = self._random.choice((OPEN, "/api/definitions/import"))
        return self._post(path, b"a" * 50_000, f"{kind}; charset={name}"), {415}

    def form(self) -> tuple[bytes, set[int]]:
        count = self._random.randint(1_001, 3_000)
        if self._random.random() < 0.5:
            return self._post(OPEN, b"a=1&" * count, "application/x-www-form-urlencoded"), {400}
        part = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
        return self._post(OPEN, part * count + b"--x--\r\n", "multipart/form-data; boundary=x"), {400}

    # -- forgeries -----------------------------------------------------------------------------------------------------

    def forged_token(self) -> tuple[bytes, set[int]]:
        parts = self._token.split(".")
        forged = [
            "eyJhbGciOiJub25lIn0." + parts[1] + ".",
            ".".join([*parts[:2], parts[2][::-1]]),
            "".join(self._random.choices(ANY_TEXT.replace(" ", ""), k=200)),
            "",
        ]
        return self._asked(f"Authorization: Bearer {self._random.choice(forged)}"), {401}

    def forged_key(self) -> tuple[bytes, set[int]]:
        return self._asked(f"X-Api-Key: hfk_{self._random.randbytes(8).hex()}_{self._random.randbytes(32).hex()}"), {
            401
        }

    def forged_link(self) -> tuple[bytes, set[int]]:
        token = self._random.randbytes(60).hex()
        method = self._random.choice(("GET", "POST"))
        return f"{method} /api/bookmarks/resume?t={token} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n".encode(), {
            401
        }

    def other_tenant(self) -> tuple[bytes, set[int]]:
        return self._asked(f"Authorization: Bearer {self._token}\r\nX-Tenant-Id: other-{self._random.random()}"), {403}

    def spelled_key(self) -> tuple[bytes, set[int]]:
        key = self._random.choice(("admin:order-1", "key:1:order-1", "local:x"))
        return (
            f"POST /workflows/none HTTP/1.1\r\nHost: x\r\nIdempotency-Key: {key}\r\nContent-Length: 0\r\n\r\n".encode(),
            {404},
        )

    def guess(self) -> tuple[bytes, set[int]]:
        name = self._random.choice(("admin", f"user{self._random.randrange(5)}"))
        body = json.dumps({"user": name, "password": f"guess {self._random.random()}"}).encode()
        return self._post(LOGIN, body), {401, 429}

    # -- places --------------------------------------------------------------------------------------------------------

    def odd_path(self) -> tuple[bytes, set[int]]:
        paths = (
            "/../../etc/passwd",
            "/%2e%2e/%2e%2e/etc/passwd",
            "/api/instances/%00",
            "/workflows/" + "a/" * 500,
            "//x",
            "/%ff",
        )
        return f"GET {self._random.choice(paths)} HTTP/1.1\r\nHost: x\r\n\r\n".encode(), {200, 401, 404, 422}

    def odd_cursor(self) -> tuple[bytes, set[int]]:
        cursor = self._random.choice(("9" * 400 + ":x", "-1:x", self._random.randbytes(30).hex(), "gqUtZGllZJM"))
        path = self._random.choice(("instances", "tasks", "bookmarks", "dead-letters"))
        head = f"GET /api/{path}?cursor={cursor} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self._token}\r\n\r\n"
        return head.encode(), {200, 422}

    # -- files of signed-in callers ------------------------------------------------------------------------------------

    def alias_bomb(self) -> tuple[bytes, set[int]]:
        levels = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 40))
        return self._imported("bomb.yaml", f"l0: &l0 x\n{levels}".encode()), {200}

    def deep_file(self) -> tuple[bytes, set[int]]:
        name = self._random.choice(("deep.json", "deep.yaml"))
        return self._imported(name, b"[" * self._random.randint(1_000, 20_000)), {200}

    def broken_zip(self) -> tuple[bytes, set[int]]:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.json", b"0" * 1_000_000)
        data = bytearray(packed.getvalue())
        for _ in range(20):
            data[self._random.randrange(4, len(data))] = self._random.randrange(256)
        return self._imported("broken.zip", bytes(data)), {200}

    def _imported(self, name: str, data: bytes) -> bytes:
        head = f'--x\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'.encode()
        body = head + data + b"\r\n--x--\r\n"
        more = f"Authorization: Bearer {self._token}\r\n"
        return self._post("/api/definitions/import", body, "multipart/form-data; boundary=x", more)

    def _asked(self, header: str) -> bytes:
        method, path = self._random.choice(ROUTES).split()
        return f"{method} {path} HTTP/1.1\r\nHost: x\r\n{header}\r\nContent-Length: 0\r\n\r\n".encode()

    def _post(self, path: str, body: bytes, kind: str = "application/json", more: str = "") -> bytes:
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
        return head.encode() + body

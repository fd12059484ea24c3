"""Charsets of texts from outside: a short list of codecs that decode in linear time.

The names come from callers. Python's own table has codecs that take quadratic time (punycode, idna), and it remembers each
unknown name for good, so foreign names never reach it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

CODECS: Mapping[str, str] = {
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "utf-16": "utf-16",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
    "us-ascii": "ascii",
    "ascii": "ascii",
    "iso-8859-1": "latin-1",
    "latin1": "latin-1",
    "iso-8859-15": "iso8859-15",
    "windows-1252": "cp1252",
}
"""Name of the charset in lower case → codec of Python."""
LISTED = ", ".join(CODECS)

_PARAMETER = re.compile(r""";\s*charset\s*=\s*("?)([a-z0-9_.:-]{1,40})\1\s*(?:;|$)""")


def codec_of(charset: str) -> str | None:
    """The codec; None if the charset is not in the list."""
    return CODECS.get(charset.strip().lower())


def charset_of(content_type: str) -> str | None:
    """The charset that a content type names; None without one. Raises `ValueError` for a charset that is not in the list and
    for other ways to write the parameter, which parsers may read in different ways."""
    lowered = content_type.lower()
    count = lowered.count("charset")
    if not count:
        return None
    found = _PARAMETER.search(lowered)
    if found is None or count > 1 or found[2] not in CODECS:
        raise ValueError(f"The charset is not one of: {LISTED}.")
    return found[2]

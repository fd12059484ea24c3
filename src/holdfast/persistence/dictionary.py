"""Small payloads of a known make, compressed with a dictionary that is shipped with the package (rule M18).

States and first segments of a journal are too small to compress by themselves: what repeats is what all of them say. The
dictionary holds that. It is trained by `benchmarks/state_dictionary.py`. Once shipped it never changes: its codec byte stands
for it.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from threading import local
from typing import Any

MARK = b"\x03"
FROM = 100
"""Bytes from which on a payload is compressed."""
KNOWN = ("instance.state", "instance.first_data")
"""The columns that are worth it: they lie with every instance, and every update copies them. A later segment is written
once."""

_FILE = "dictionary_3.zstd"
_LEVEL, _SHORTEST, _TABLE = 1, 4, 12
"""Matches of four bytes count in payloads as small as these: they make the quickest way smaller than level 3, which takes half
as long again. A table of 2¹² places finds as much as a larger one, and stays in the processor's cache. Any of it can be
changed: who decompresses need not know."""


@cache
def _dictionary() -> Any:
    import zstandard

    return zstandard.ZstdCompressionDict(files(__package__).joinpath(_FILE).read_bytes())


class _OfThread(local):
    """Compressors are not shared between threads."""

    def __init__(self) -> None:
        import zstandard

        bare = zstandard.FORMAT_ZSTD1_MAGICLESS
        parameters = zstandard.ZstdCompressionParameters.from_level(
            _LEVEL,
            min_match=_SHORTEST,
            hash_log=_TABLE,
            format=bare,
            write_content_size=True,
            write_checksum=False,
            write_dict_id=False,
        )
        made = zstandard.ZstdCompressor(dict_data=_dictionary(), compression_params=parameters)
        self.compress: Any = made.compress
        self.decompress: Any = zstandard.ZstdDecompressor(dict_data=_dictionary(), format=bare).decompress


class DictionaryCompression:
    """Needs the package zstandard. One for all threads."""

    mark = MARK

    def __init__(self) -> None:
        self._own = _OfThread()

    def compress(self, data: bytes) -> bytes:
        compressed: bytes = self._own.compress(data)
        return compressed

    def decompress(self, data: bytes) -> bytes:
        plain: bytes = self._own.decompress(data)
        return plain

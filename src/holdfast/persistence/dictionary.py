"""Dictionary compression of small payloads, with a dictionary that is shipped with the package (rule M18).

States and first journal segments are too small to compress on their own: most repetitions are between payloads, not within
one. The dictionary contains these common parts. `benchmarks/state_dictionary.py` trains it. A shipped dictionary never
changes, because its codec byte identifies it.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from threading import local
from typing import Any

MARK = b"\x03"
FROM = 100
"""Smallest payload that is compressed, in bytes."""
KNOWN = ("instance.state", "instance.first_data")
"""Columns that use the dictionary. Every instance has them and every update copies them. A later segment is written only
once, so the dictionary is not used for it."""

_FILE = "dictionary_3.zstd"
_LEVEL, _SHORTEST, _TABLE = 1, 4, 12
"""Payloads are small, so matches of four bytes pay off: with them, level 1 compresses better than level 3, which takes 1.5
times as long. A hash table of 2¹² entries finds as much as a larger one and stays in the CPU cache. These values may
change: decompression does not depend on them."""


@cache
def _dictionary() -> Any:
    import zstandard

    return zstandard.ZstdCompressionDict(files(__package__).joinpath(_FILE).read_bytes())


class _OfThread(local):
    """Compressor and decompressor of one thread: they are not thread-safe."""

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
    """Needs the package zstandard. One object serves all threads."""

    mark = MARK

    def __init__(self) -> None:
        self._own = _OfThread()

    def compress(self, data: bytes) -> bytes:
        compressed: bytes = self._own.compress(data)
        return compressed

    def decompress(self, data: bytes) -> bytes:
        plain: bytes = self._own.decompress(data)
        return plain

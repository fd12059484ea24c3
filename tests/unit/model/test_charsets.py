"""The list of charsets."""

from __future__ import annotations

import encodings

import pytest

from holdfast.model.charsets import CODECS, charset_of, codec_of


def test_every_codec_of_the_list_is_known_and_linear() -> None:
    for codec in CODECS.values():
        assert len((b"a" * 4_000_000).decode(codec)) in {2_000_000, 4_000_000}


def test_a_name_outside_the_list_reaches_no_table_of_python() -> None:
    before = len(encodings._cache)

    for number in range(1_000):
        assert codec_of(f"unknown-{number}") is None
        with pytest.raises(ValueError, match="utf-8"):
            charset_of(f"text/plain; charset=unknown-{number}")

    assert len(encodings._cache) == before


@pytest.mark.parametrize(
    "text",
    [
        "text/plain; charset=UTF-8",
        'text/plain;charset="utf-8"',
        "a/b; charset = utf-8 ; boundary=x",
        "a/b;x=1;charset=utf-8",
    ],
)
def test_the_charset_of_a_content_type(text: str) -> None:
    assert charset_of(text) == "utf-8"


def test_a_content_type_without_a_charset() -> None:
    assert charset_of("application/json") is None
    assert charset_of("") is None


@pytest.mark.parametrize(
    "text",
    [
        "text/plain; charset=punycode",
        "text/plain; charset=utf-8; charset=punycode",
        "text/plain; charset*=utf-8''punycode",
        "text/plain; charset*0=puny; charset*1=code",
        "text/plain; charset",
        "text/plain; charset=",
        "text/plain; charset='utf-8'",
        'text/plain; charset="utf-8',
        "text/plain charset=utf-8",
        "text/plain; xcharset=idna",
    ],
)
def test_other_charsets_and_other_ways_to_write_them_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not one of"):
        charset_of(text)

"""Files of an import within limits."""

from __future__ import annotations

import io
import zipfile

import pytest
from msgspec.structs import replace

from holdfast.server.import_files import ImportLimits, read_files
from holdfast.settings import Settings

LIMITS = ImportLimits.of(Settings())


def zipped(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def refused(name: str, data: bytes, limits: ImportLimits = LIMITS) -> str:
    (file,) = read_files([(name, data)], limits)
    assert file.document is None
    assert file.refusal is not None
    return file.refusal.code


def test_json_yaml_and_zips_are_read() -> None:
    files = read_files([("a.json", b'{"a": 1}'), ("b.yaml", b"b: [2]"), ("c.zip", zipped(d=b'{"d": 4}'))], LIMITS)

    assert [(file.name, file.document) for file in files] == [
        ("a.json", {"a": 1}),
        ("b.yaml", {"b": [2]}),
        ("c.zip/d", {"d": 4}),
    ]


def test_an_alias_bomb_is_refused_at_its_first_alias() -> None:
    levels = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 40))

    assert refused("bomb.yaml", f"l0: &l0 x\n{levels}".encode()) == "yaml.alias"
    assert refused("merge.yml", b"a: &a {b: 1}\nc:\n  <<: *a\n") == "yaml.alias"


def test_an_anchor_without_an_alias_is_harmless() -> None:
    assert read_files([("a.yaml", b"a: &a 1")], LIMITS)[0].document == {"a": 1}


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("large.yaml", b"a: " + b"x" * 300_000, "yaml.too_large"),
        ("deep.yaml", b"[" * 20_000, "file.unreadable"),
        ("deep.json", b"[" * 200_000, "file.unreadable"),
        ("tag.yaml", b"!!python/object/apply:os.system [ls]", "file.unreadable"),
        ("date.yaml", b"a: 2020-99-99", "file.unreadable"),
        ("wide.json", b"[" + b"[]," * 600_000 + b"1]", "json.too_many_values"),
        ("odd.json", b"\xff\xfe", "file.unreadable"),
        ("list.json", b"[]", "file.no_definition"),
        ("short.zip", b"PK\x03\x04", "zip.unreadable"),
    ],
)
def test_bad_files(name: str, data: bytes, code: str) -> None:
    assert refused(name, data) == code


def test_a_corrupt_deflate_stream_is_refused() -> None:
    data = bytearray(zipped(a=b'{"a": "' + b"text" * 1_000 + b'"}'))
    start = data.index(b"a", 30) + 1
    data[start : start + 8] = b"\xff" * 8

    assert refused("broken.zip", bytes(data)) == "zip.unreadable"


def test_a_bomb_is_counted_while_it_unpacks() -> None:
    data = zipped(**{f"f{n}": b"0" * 1_000_000 for n in range(10)})

    assert refused("bomb.zip", data, replace(LIMITS, archive_bytes=3_000_000)) == "zip.too_large"
    assert refused("many.zip", data, replace(LIMITS, archive_files=9)) == "zip.too_many"

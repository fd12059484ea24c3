"""The change log has the form of Keep a Changelog, and its newest release is not newer than the version of the package."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdfast
from tests.support.changelog import HEADINGS, UNRELEASED, ChangelogError, Release, releases


@pytest.fixture(scope="module")
def log(root: Path) -> list[Release]:
    return releases(root / "CHANGELOG.md")


def test_the_first_section_is_for_unreleased_changes(log: list[Release]) -> None:
    assert [release.name for release in log].count(UNRELEASED) == 1
    assert log[0].name == UNRELEASED


def test_the_headings_of_a_release_have_one_order(log: list[Release]) -> None:
    for release in log:
        assert list(release.entries) == [heading for heading in HEADINGS if heading in release.entries], release.name


def test_no_heading_is_empty(log: list[Release]) -> None:
    assert not [
        (release.name, heading) for release in log for heading, entries in release.entries.items() if not entries
    ]


def test_releases_stand_newest_first(log: list[Release]) -> None:
    versions = [release.version for release in log[1:]]
    days = [release.day for release in log[1:] if release.day is not None]

    assert versions == sorted(set(versions), reverse=True)
    assert days == sorted(days, reverse=True)


def test_no_release_is_newer_than_the_package(log: list[Release]) -> None:
    package = Release(holdfast.__version__, None)

    assert all(release.version <= package.version for release in log[1:])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("## Next\n", "line 1: write `## Unreleased`"),
        ("## Unreleased\n\n### Improved\n", "line 3: use one of Breaking"),
        ("## Unreleased\n\n- a change\n", "line 3: an entry needs a heading"),
        ("## Unreleased\n### Added\n### Added\n", "line 3: `Added` needs a release above it"),
    ],
)
def test_a_line_in_another_form_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "CHANGELOG.md"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ChangelogError, match=message):
        releases(path)

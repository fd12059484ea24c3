"""Documents that follow a form: decisions, change log, README."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from holdfast.execution.pipeline import BUILT_IN

LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)#\s]+)(?:#[^)]*)?\)")


def test_decisions_are_numbered_without_gaps_and_have_their_parts(root: Path) -> None:
    records = sorted((root / "docs/adr").glob("*.md"))

    assert [record.name[:5] for record in records] == [f"{number:04}-" for number in range(1, len(records) + 1)]
    for record in records:
        text = record.read_text(encoding="utf-8")
        assert text.startswith(f"# {int(record.name[:4])}. "), record.name
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences", "Rejected"], (
            record.name
        )


def test_the_readme_is_short(root: Path) -> None:
    assert 20 < len((root / "README.md").read_text(encoding="utf-8").splitlines()) < 150


def test_the_change_log_has_what_is_not_yet_released(root: Path) -> None:
    assert "\n## Unreleased\n" in (root / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_order_of_middleware_is_the_real_one(root: Path) -> None:
    page = (root / "docs/middleware.md").read_text(encoding="utf-8")

    assert tuple(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == BUILT_IN


def test_links_between_documents_lead_somewhere(root: Path) -> None:
    pages = [root / "README.md", root / "CONTRIBUTING.md", root / "CHANGELOG.md", *(root / "docs").rglob("*.md")]

    lost = [
        f"{page.relative_to(root)}: {link['target']}"
        for page in pages
        for link in LINK.finditer(page.read_text(encoding="utf-8"))
        if "://" not in link["target"] and not (page.parent / link["target"]).exists()
    ]

    assert not lost


def test_the_reference_is_what_the_code_says(root: Path) -> None:
    """`make docs` writes it; each error, setting, event, activity and public name has its row."""
    checked = subprocess.run(
        [sys.executable, root / "docs/generate.py", "--check"], capture_output=True, text=True, check=False
    )

    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_rules_that_the_code_names_are_written_down(root: Path) -> None:
    page = (root / "docs/rules.md").read_text(encoding="utf-8")
    known = set(re.findall(r"^\| ([HM]\d+) \|", page, re.MULTILINE)) | set(
        re.findall(r"^\*\*(.+)\.\*\*", page, re.MULTILINE)
    )
    named: dict[str, Path] = {}
    for path in [*(root / "src/holdfast").rglob("*.py"), *(root / "tests").rglob("*.py")]:
        text = " ".join(path.read_text(encoding="utf-8").split())
        for listed in re.findall(r"\b[Rr]ules? ((?:[HM]\d+(?:, | and |–)?)+)", text):
            named |= dict.fromkeys(re.findall(r"[HM]\d+", listed), path)
        named |= dict.fromkeys(re.findall(r"\(rule \"([^\"]+)\"", text), path)

    assert {"H12", "M14", "Segments and effects"} <= named.keys()
    assert not {f"{name}: {path.relative_to(root)}" for name, path in named.items() if name not in known}

"""Builder of the documentation site: `make site` writes `build/docs/site` from the repository's own Markdown files.

The pages are copied with two changes, because a Git host and MkDocs differ: links are rewritten to the place of the target in
the site, and `file=NAME` after the language of a code block becomes its title. Then MkDocs builds strictly: a broken link, a
missing anchor or a page outside the navigation fails the build.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "build" / "docs"
ROOT_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
COPIED = (".css", ".png")
LANGUAGES = {".py": "python", ".json": "json"}
COMMENT = re.compile(r"\A<!--.*?-->\s*", re.DOTALL)
"""Of a generated page. MkDocs takes the title of a page from a heading only if nothing is before it."""
BLOCK = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```(?P<language>\w+) file=(?P<file>\S+)$", re.MULTILINE)
LINK = re.compile(r"(?P<text>\[(?:[^\[\]]|\[[^\]]*\])*\])\((?P<target>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")


class Site:
    """The pages of the site: for each file of the repository that becomes one, its address and its text."""

    def __init__(self, root: Path = ROOT) -> None:
        self._root = root
        self.pages = dict(ROOT_PAGES)
        """The page of each file; both as POSIX paths, from the root of the repository and of the site."""
        for path in sorted((root / "docs").rglob("*")):
            if path.suffix in {".md", *COPIED}:
                self.pages[path.relative_to(root).as_posix()] = path.relative_to(root / "docs").as_posix()
        for path in _examples(root):
            self.pages[path.relative_to(root).as_posix()] = _example_page(path)
        self.pages["examples"] = "examples/index.md"

    def write(self, folder: Path) -> None:
        for source, page in self.pages.items():
            target = folder / page
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.suffix in COPIED:
                shutil.copyfile(self._root / source, target)
            else:
                target.write_text(self._translated(source, self._text(source)), encoding="utf-8")

    def _text(self, source: str) -> str:
        path = self._root / source
        if source == "examples":
            return self._examples_index()
        if path.suffix == ".md" and path.parent.parent == self._root / "examples":
            return _project_text(path)
        if path.suffix != ".md":
            return _example_text(path)
        return COMMENT.sub("", path.read_text(encoding="utf-8"))

    def _examples_index(self) -> str:
        lines = [
            f"- [{_title(path)}]({path.relative_to(self._root / 'examples').as_posix()})"
            for path in _examples(self._root)
        ]
        return "\n".join(
            ("# Examples", "", "Each example runs in the test suite, and its output is compared.", "", *lines, "")
        )

    def _translated(self, source: str, text: str) -> str:
        prose_and_blocks = BLOCK.split(text)
        prose_and_blocks[::2] = [
            LINK.sub(lambda found: self._link(source, found), part) for part in prose_and_blocks[::2]
        ]
        prose_and_blocks[1::2] = [
            FENCE.sub(r'```\g<language> title="\g<file>"', part, count=1) for part in prose_and_blocks[1::2]
        ]
        return "".join(prose_and_blocks)

    def _link(self, source: str, found: re.Match[str]) -> str:
        target, page = found["target"], self.pages[source]
        if "://" in target:
            return found[0]
        folder = source if source == "examples" else PurePosixPath(source).parent.as_posix()
        wanted = self.pages.get(os.path.normpath(f"{folder}/{target}"))
        if wanted is None:
            return found[0]  # MkDocs reports it.
        return f"{found['text']}({os.path.relpath(wanted, PurePosixPath(page).parent)}{found['anchor'] or ''})"

    def navigation(self, entries: list[Any]) -> list[Any]:
        """`folder/` stands for the pages of that folder, in the order of their names, an index first."""
        expanded: list[Any] = []
        for entry in entries:
            if isinstance(entry, dict):
                expanded += [
                    {title: self.navigation(inner) if isinstance(inner, list) else inner}
                    for title, inner in entry.items()
                ]
            elif entry.endswith("/"):
                found = [page for page in self.pages.values() if page.startswith(entry) and page.endswith(".md")]
                expanded += sorted(found, key=lambda page: (not page.endswith("/index.md"), page))
            else:
                expanded.append(entry)
        return expanded


# -- examples ----------------------------------------------------------------------------------------------------------


def _examples(root: Path) -> list[Path]:
    """Single files, and the README of each project."""
    folder = root / "examples"
    single = [path for path in folder.iterdir() if path.suffix in LANGUAGES]
    return [*sorted(single), *sorted(folder.glob("*/README.md"))]


def _example_page(path: Path) -> str:
    return f"examples/{path.parent.name if path.name == 'README.md' else path.stem}.md"


def _title(path: Path) -> str:
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    return path.name


def _example_text(path: Path) -> str:
    parts = [f"# {path.name}", _block(path, path.name)]
    if path.suffix == ".py":
        described = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        parts.insert(1, described or "")
    output = path.with_suffix(".out")
    if output.is_file():
        parts += ["It prints:", f"```text\n{output.read_text(encoding='utf-8').rstrip()}\n```"]
    return "\n\n".join(parts) + "\n"


def _project_text(readme: Path) -> str:
    files = [path for path in sorted(readme.parent.rglob("*.py")) if path.stat().st_size]
    blocks = [_block(path, path.relative_to(readme.parent).as_posix()) for path in files]
    return "\n\n".join((readme.read_text(encoding="utf-8").rstrip(), "## Files", *blocks)) + "\n"


def _block(path: Path, name: str) -> str:
    return f"```{LANGUAGES[path.suffix]} file={name}\n{path.read_text(encoding='utf-8').rstrip()}\n```"


# -- build -------------------------------------------------------------------------------------------------------------


def build(target: Path = TARGET, root: Path = ROOT) -> int:
    """Write `target/site` and return the exit code of MkDocs."""
    shutil.rmtree(target, ignore_errors=True)
    site = Site(root)
    site.write(target / "pages")
    configuration = yaml.safe_load((root / "docs" / "site.yml").read_text(encoding="utf-8"))
    configuration |= {"docs_dir": "pages", "site_dir": "site", "nav": site.navigation(configuration["nav"])}
    written = target / "mkdocs.yml"
    written.write_text(yaml.safe_dump(configuration, sort_keys=False), encoding="utf-8")
    # Without --quiet: it would hide the warnings, and --strict counts only the warnings that are shown.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(written)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # docs/adr/0028 says what follows after MkDocs.
    return subprocess.run(command, check=False, env=environment).returncode  # noqa: S603 - our own command


if __name__ == "__main__":
    sys.exit(build())

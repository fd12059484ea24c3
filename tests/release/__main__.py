"""`make release`: build wheel, sdist and site into `dist`, check each in an empty environment, write checksums. Nothing is
uploaded and no tag is set.

The version comes from `holdfast.__version__`; the change log must have a section for it. `--dry-run` skips the checks of the
change log and of the working tree.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from holdfast import __version__
from tests.release import packages
from tests.support.changelog import UNRELEASED, releases
from tests.support.environment import ROOT

SITE = ROOT / "build" / "docs" / "site"
"""Built by `make site`, which `make release` runs first."""


class NotReady(Exception):
    """A reason why this version cannot be released; the message names the remedy."""


def check_ready() -> None:
    """The change log and the working tree fit a release of this version."""
    log = releases(ROOT / "CHANGELOG.md")
    if log[0].entries:
        raise NotReady(f"CHANGELOG.md has unreleased entries. Move them below a heading `## {__version__} - <today>`.")
    if len(log) < 2 or log[1].name != __version__:
        raise NotReady(
            f"The newest release of CHANGELOG.md is {log[1].name if len(log) > 1 else 'missing'}, the package is "
            f"{__version__}. Correct `__version__` in src/holdfast/__init__.py, or the heading below `## {UNRELEASED}`."
        )
    changed = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    if changed:
        raise NotReady(f"The working tree has changes. Commit them first:\n{changed}")


def build_all() -> list[Path]:
    """Empty `dist`, then wheel, sdist and the archive of the site."""
    shutil.rmtree(packages.DIST, ignore_errors=True)
    built = packages.build()
    archive = packages.DIST / f"holdfast-{__version__}-docs.tgz"
    with tarfile.open(archive, "w:gz") as file:
        file.add(SITE, arcname=f"holdfast-{__version__}-docs")
    return [*built, archive]


def check_all(built: list[Path]) -> None:
    """Install each package into an empty environment, and serve the unpacked site from it."""
    *installable, archive = built
    with TemporaryDirectory() as folder:
        with tarfile.open(archive) as file:
            file.extractall(folder, filter="data")
        site = Path(folder) / f"holdfast-{__version__}-docs"
        for package in installable:
            version = packages.check(package, site)
            if version != __version__:
                raise NotReady(f"{package.name} reports the version {version}, not {__version__}. Run `make clean`.")
            _say(f"{package.name}: installed, served the Studio and the site, ran a workflow")


def write_checksums(built: list[Path]) -> Path:
    """In the form that `sha256sum --check` reads."""
    target = packages.DIST / "SHA256SUMS"
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(built)]
    target.write_text("".join(lines), encoding="utf-8")
    return target


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry-run", action="store_true", help="skip the checks of change log and working tree")
    try:
        if not parser.parse_args().dry_run:
            check_ready()
        built = build_all()
        check_all(built)
    except NotReady as error:
        sys.stderr.write(f"Not ready for a release: {error}\n")
        return 1
    _say(f"dist has {', '.join(path.name for path in [*built, write_checksums(built)])}.")
    _say("Nothing was uploaded. The last steps are in CONTRIBUTING.md, section Release.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

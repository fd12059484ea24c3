"""`python -m benchmarks.against COMMIT`: throughput of the working tree over that of an earlier commit, on PostgreSQL.

The commit is checked out below `.bench/` with an environment of its own. Contenders take turns round by round and change who
goes first, so noise of the machine meets both. Ratios above 1 mean that the working tree is faster.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.figures import Effort
from benchmarks.results import meta, warn, write
from benchmarks.store_databases import POSTGRES, database

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "benchmarks/results/against.json"
CONTENDER = Path(__file__).with_name("contender.py")
CASES = {
    "start.1": "start 1500 1",
    "start.64": "start 15000 64",
    "start.512": "start 20000 512",
    "resume.64": "resume 6000 64",
    "event.64": "event 6000 64",
    "dispatch.64": "dispatch 10000 64",
    "activities.runner": "run 15000 1",
}


class Contender:
    def __init__(self, tree: Path, url: str) -> None:
        self._process = subprocess.Popen(
            [str(tree / ".venv/bin/python"), str(CONTENDER), url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(tree / "src")},
            cwd=tree,
        )

    def run(self, line: str) -> dict[str, float]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit("A contender ended early; its error is printed above.")
        found: dict[str, float] = json.loads(answer)
        return found

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)


def checkout(commit: str) -> Path:
    """The commit in a folder of its own, with its environment."""
    tree = ROOT / ".bench" / f"against-{commit}"
    if not tree.exists():
        warn(f"Checking out {commit} …")
        subprocess.run(["git", "worktree", "add", "--detach", str(tree), commit], cwd=ROOT, check=True)
    subprocess.run(["make", "--silent", ".venv/.ready"], cwd=tree, check=True)
    return tree


def measure(old: Contender, new: Contender, line: str, rounds: int) -> dict[str, float]:
    old.run(line)
    new.run(line)
    olds: list[dict[str, float]] = []
    news: list[dict[str, float]] = []
    for number in range(rounds):
        turns = [(old, olds), (new, news)]
        for contender, results in turns if number % 2 else reversed(turns):
            results.append(contender.run(line))
    count = int(line.split()[1])
    walls, cpus = ([median(item[kind] for item in results) for results in (olds, news)] for kind in ("wall", "cpu"))
    return {
        "ratio": walls[0] / walls[1],
        "best_ratio": min(item["wall"] for item in olds) / min(item["wall"] for item in news),
        "cpu_ratio": cpus[0] / cpus[1],
        "per_s.old": count / walls[0],
        "per_s.new": count / walls[1],
        "cpu_us.old": cpus[0] / count * 1e6,
        "cpu_us.new": cpus[1] / count * 1e6,
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against", description=__doc__)
    parser.add_argument("commit", help="the earlier commit")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of each contender")
    asked = parser.parse_args()
    tree, values = checkout(asked.commit), dict[str, Any]()
    with ExitStack() as stack:
        places = [stack.enter_context(database(POSTGRES)) for _ in range(2)]
        old, new = (Contender(where, place.url) for where, place in zip((tree, ROOT), places, strict=True))
        stack.callback(old.close)
        stack.callback(new.close)
        for name, line in CASES.items():
            found = measure(old, new, line, asked.rounds)
            values |= {f"against.{name}.{kind}": value for kind, value in found.items()}
            print(
                f"{name:18} throughput {found['ratio']:.3f} (best {found['best_ratio']:.3f}), CPU {found['cpu_ratio']:.3f}, "
                f"{found['per_s.old']:.0f} → {found['per_s.new']:.0f} per s",
                flush=True,
            )
    write(RESULT, values, meta(Effort(rounds=asked.rounds)) | {"meta.against": asked.commit})
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m benchmarks.load`, or `make load`: all figures of the server, written to benchmarks/results/load.json."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import Effort
from benchmarks.load.abuse.measure import abuse
from benchmarks.load.live import followers
from benchmarks.load.rates import resumes, starts
from benchmarks.load.server import running
from benchmarks.load.soak import soak
from benchmarks.results import meta, rounded, warn, write

RESULTS = Path(__file__).resolve().parents[1] / "results" / "load.json"
GOALS = {
    "idle_rss_mb": 120.0,
    "start_s": 2.0,
    "abuse.unexpected": 0.0,
    "abuse.worst_stall_ms": 100.0,
    "abuse.rss_growth_mb": 50.0,
}
SOAK_LEAST = 200_000
ABUSE_LEAST = 20_000


async def measured(asked: argparse.Namespace) -> dict[str, float]:
    values: dict[str, float] = {}
    warn("Starting …")
    begun = []
    for _ in range(asked.rounds):
        async with running() as server:
            begun.append(server.start_s)
            await asyncio.sleep(1)
            values["idle_rss_mb"] = server.rss_mb()
    values["start_s"] = min(begun)
    async with running() as server:
        warn("Starts and resumes …")
        values |= await starts(server, asked.requests, asked.rounds)
        values |= await resumes(server, asked.requests)
        warn("Live …")
        values |= await followers(server, asked.subscribers)
    async with running() as server:
        warn(f"Soak of {asked.soak} requests …")
        values |= await soak(server, asked.soak)
    warn(f"Abuse of {asked.abuse} requests …")
    values |= await abuse(asked.abuse)
    return values


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description="Measure the server.")
    parser.add_argument("--requests", type=int, default=3_000, help="starts of one round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--subscribers", type=int, default=1_000)
    parser.add_argument("--soak", type=int, default=SOAK_LEAST)
    parser.add_argument("--abuse", type=int, default=ABUSE_LEAST, help="hostile requests")
    parser.add_argument("--try", dest="trying", action="store_true", help="print the figures, write nothing")
    asked = parser.parse_args(arguments)
    try:
        import uvloop
    except ImportError:
        values = asyncio.run(measured(asked))
    else:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            values = runner.run(measured(asked))
    for name, value in values.items():
        goal = GOALS.get(name)
        said = "" if goal is None else f"   goal ≤ {goal:g}: {'met' if value <= goal else 'NOT MET'}"
        print(f"{name:26} {rounded(value):>12g}{said}")
    if not asked.trying:
        write(RESULTS, values, meta(Effort(rounds=asked.rounds)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

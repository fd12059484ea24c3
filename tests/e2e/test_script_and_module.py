"""One file as a script and as a module: what one process begins, another goes on with, however the file was run."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from tests.support.python_process import called

SHOP = """
import asyncio, sys
from dataclasses import dataclass
from holdfast import Holdfast, activity, wait_for, workflow

@dataclass
class Approval:
    by: str

@dataclass
class Receipt:
    text: str

class Declined(Exception):
    pass

def said(answer):
    return f"{answer.by} said yes"

@activity
async def charge(order: str) -> Receipt:
    return Receipt(order)

@activity
async def decline(order: str) -> None:
    raise Declined(order)

@workflow
async def fulfil(order: str) -> str:
    receipt = await charge(order)
    answer = await wait_for(Approval, key=order)
    try:
        await decline(order)
    except Declined:
        return f"{receipt.text}: {said(answer)}"

async def main(verb: str) -> None:
    async with Holdfast(store="sqlite:///shop.db", workflows=[fulfil], entry_points=False) as app:
        if verb == "begin":
            order = await app.start(fulfil, "A-17")
            while await order.status() != "suspended":
                await asyncio.sleep(0.01)
            print(order.id)
        else:
            await app.send(Approval("Ada"), key="A-17")
            print(await app.handle(fulfil, sys.argv[2]).result())

if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
"""
WAYS = {
    "script": ["shop.py"],
    "module": ["-c", "import asyncio, shop, sys; asyncio.run(shop.main(sys.argv[1]))"],
    "run-module": ["-m", "shop"],
}


@pytest.mark.parametrize(("begins", "ends"), list(permutations(WAYS, 2)))
def test_what_one_way_began_another_ends(tmp_path: Path, environment: dict[str, str], begins: str, ends: str) -> None:
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")

    def run(way: str, *words: str) -> str:
        done = called(*WAYS[way], *words, folder=tmp_path, environment=environment)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.strip()

    order = run(begins, "begin")

    assert run(ends, "end", order) == "A-17: Ada said yes"

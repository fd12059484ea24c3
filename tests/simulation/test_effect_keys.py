"""One key per effect (rule H3): random programs with failures, retried until they end, through JSON between the retries."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st

from holdfast import Holdfast, Runner, Status
from tests.support.programs.comparison import load
from tests.support.programs.effect_calls import LAST, Program
from tests.support.programs.effect_outcomes import Current, Outcomes

MOST_RETRIES = 200


@given(seed=st.integers(0, 1 << 32))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
def test_all_attempts_of_a_call_carry_one_key(
    seed: int, engine: Holdfast, perform: Callable[[Any], Any], tmp_path: Path
) -> None:
    program = Program(seed)
    flow = load(program.text, tmp_path, f"effect_keys_{seed}").main
    outcomes = Current.outcomes = Outcomes(seed)

    async def run(runner: Runner) -> Any:
        result = await runner.run(flow)
        for _ in range(MOST_RETRIES):
            if result.status is not Status.FAULTED:
                return result
            result = await runner.retry(runner.load(json.loads(json.dumps(result.state)), flow))
        raise AssertionError(program.text)

    result = perform(run)

    assert result.status is Status.FINISHED, program.text
    check_keys(program, outcomes)


def check_keys(program: Program, outcomes: Outcomes) -> None:
    """One key per call, each attempt once, and no call again that has succeeded; except where a whole `try` is retried."""
    for name, attempts in outcomes.attempts.items():
        if name not in program.repeated and not name.startswith(LAST):
            assert len({key for key, _ in attempts}) == 1, (name, attempts, program.text)
            assert name not in outcomes.again, (name, attempts, program.text)
        assert len(set(attempts)) == len(attempts), (name, attempts, program.text)

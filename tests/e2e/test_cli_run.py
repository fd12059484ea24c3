"""`holdfast run` in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.python_process import Holdfast


def lines_and_report(run: subprocess.CompletedProcess[str]) -> tuple[list[str], dict[str, Any]]:
    *lines, last = run.stdout.splitlines()
    report: dict[str, Any] = json.loads(last)
    return lines, report


def test_json_ends_with_one_line_of_data(holdfast: Holdfast) -> None:
    run = holdfast("run", "approval.json", "--input", '{"amount": 3}', "--json")

    lines, report = lines_and_report(run)
    assert (run.returncode, run.stderr, lines) == (0, "", ["Who approves 3?"])
    assert list(report) == ["instance_id", "status", "outputs", "variables", "incidents", "bookmarks"]
    assert report["status"] == "suspended"
    assert [item["activity_id"] for item in report["bookmarks"]] == ["decided"]


def test_auto_resume_goes_on_until_nothing_waits(holdfast: Holdfast) -> None:
    run = holdfast("run", "two_questions.json", "--auto-resume", "--json")

    lines, report = lines_and_report(run)
    assert (run.returncode, lines) == (0, ["first came", "second came"])
    assert (report["status"], report["bookmarks"]) == ("finished", [])


def test_a_success_says_its_lines_and_outputs(holdfast: Holdfast) -> None:
    """The lines on stdout; the outputs on stderr, also without a terminal."""
    run = holdfast("run", "approval.json", "--input", '{"amount": 3}', "--auto-resume")

    assert (run.returncode, run.stdout) == (0, "Who approves 3?\nDecided: {}\n")
    first, second = run.stderr.splitlines()
    assert first.startswith("finished  instance ")
    assert second == '  output decision = "{}"'


def test_a_run_that_waits_says_where_and_how_to_go_on(holdfast: Holdfast) -> None:
    run = holdfast("run", "approval.json", "--input", '{"amount": 3}')

    assert run.returncode == 0
    assert "waits at b1: Event" in run.stderr
    assert "--state FILE" in run.stderr


def test_a_fault_gives_exit_code_1_and_its_incident(holdfast: Holdfast) -> None:
    run = holdfast("run", "faulty.json", "--json")

    lines, report = lines_and_report(run)
    assert (run.returncode, lines, report["status"]) == (1, ["before"], "faulted")
    assert [(item["activity_id"], item["message"]) for item in report["incidents"]] == [("broken", "that went south")]
    assert "that went south" in holdfast("run", "faulty.json").stderr


def test_elsa_with_a_byte_order_mark_and_other_letters(holdfast: Holdfast, folder: Path) -> None:
    file = folder / "elsa_fork.json"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())

    run = holdfast("run", "elsa_fork.json", "--flowchart-mode", "token", "--auto-resume", "--json")

    lines, report = lines_and_report(run)
    assert (run.returncode, lines, report["status"]) == (0, ["Grüße", "2 done"], "finished")


def test_a_child_comes_with_with(holdfast: Holdfast) -> None:
    run = holdfast("run", "parent.json", "--with", "approval.json", "--auto-resume")

    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.splitlines() == ["parent starts", "Who approves 7?", "Decided: {}", "parent ends"]


def test_a_child_that_is_missing_faults_with_the_remedy(holdfast: Holdfast) -> None:
    run = holdfast("run", "parent.json")

    assert run.returncode == 1
    assert "--with FILE" in run.stderr


def test_wait_waits_out_a_delay(holdfast: Holdfast) -> None:
    suspended = holdfast("run", "delay.json")
    waited = holdfast("run", "delay.json", "--wait")

    assert (suspended.returncode, suspended.stdout) == (0, "")
    assert "--wait" in suspended.stderr
    assert (waited.returncode, waited.stdout, waited.stderr) == (0, "rested\n", "")


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("shop:single", "one activity\n"),
        ("shop:made", "made by a function\n"),
        ("shop.py:made", "made by a function\n"),
    ],
)
def test_workflows_in_python(holdfast: Holdfast, name: str, printed: str) -> None:
    run = holdfast("run", name)

    assert (run.returncode, run.stdout, run.stderr) == (0, printed, "")


def test_typed_values_are_told_with_their_type(holdfast: Holdfast) -> None:
    run = holdfast("run", "shop:order", "--input", '{"pieces": 3}', "--auto-resume", "--json")

    lines, report = lines_and_report(run)
    assert lines == ["That is 4.50"]
    assert report["outputs"] == {"total": "4.50"}


def test_activities_in_python_for_a_workflow_in_json(holdfast: Holdfast) -> None:
    without = holdfast("run", "uses_shop.json")
    run = holdfast("run", "uses_shop.json", "--activities", "shop")

    assert without.returncode == 2
    assert "--activities MODULE" in without.stderr
    assert (run.returncode, run.stdout) == (0, "3.00\n")


def test_workflow_and_inputs_from_stdin_and_file(holdfast: Holdfast, folder: Path) -> None:
    (folder / "inputs.json").write_text('{"amount": 4}', encoding="utf-8")

    from_file = holdfast("run", "approval.json", "--input", "@inputs.json", "--auto-resume")
    from_stdin = holdfast("run", "approval.json", "--input", "@-", "--auto-resume", stdin='{"amount": 4}')
    document = (folder / "approval.json").read_text(encoding="utf-8")
    piped = holdfast("run", "-", "--input", "@inputs.json", "--auto-resume", stdin=document)

    assert {run.stdout for run in (from_file, from_stdin, piped)} == {"Who approves 4?\nDecided: {}\n"}


def test_a_terminal_without_the_letters_gets_them_escaped(holdfast: Holdfast, environment: dict[str, str]) -> None:
    run = holdfast("run", "elsa_fork.json", environment={**environment, "PYTHONIOENCODING": "ascii"})

    assert (run.returncode, run.stdout) == (0, "Gr\\xfc\\xdfe\n")


def test_an_effect_that_hangs_does_not_keep_the_command(holdfast: Holdfast) -> None:
    """The fixture's thread sleeps for an hour; without the way out, this run would be killed by its timeout."""
    run = holdfast("run", "shop:hanging", "--json")

    lines, report = lines_and_report(run)
    assert (run.returncode, lines, report["status"]) == (1, ["started"], "faulted")


def test_a_reader_that_goes_away_does_not_stop_the_run(holdfast: Holdfast, folder: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        run = holdfast("run", "two_questions.json", "--auto-resume", "--state", "state.json", stdout=writer)
    finally:
        os.close(writer)

    assert run.returncode == 2
    assert (
        run.stderr == "Error: The output could not be written (Broken pipe). The run continued without it: finished.\n"
    )
    assert json.loads((folder / "state.json").read_text(encoding="utf-8"))["status"] == "finished"


def test_printing_into_a_closed_pipe_is_quiet(holdfast: Holdfast) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        run = holdfast("schema", stdout=writer)
    finally:
        os.close(writer)

    assert (run.returncode, run.stderr) == (2, "")


def test_interrupted(folder: Path, command: list[str], environment: dict[str, str]) -> None:
    with subprocess.Popen(
        [*command, "run", "shop:endless"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        # A shell that started the tests in the background had them ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no other thread is at work
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"  # it runs; the effect that never ends is open or about to be
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=100)

    assert (process.returncode, told) == (130, "Interrupted.\n")

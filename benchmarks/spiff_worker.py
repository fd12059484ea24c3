"""Worker in the environment `.bench/spiff`: runs one turn for each line on stdin. Started by `spiff.py`."""

from __future__ import annotations

import gc
import itertools
import json
import sys
import time
from typing import Any

from SpiffWorkflow.bpmn import BpmnWorkflow  # type: ignore[import-not-found]  # installed in its own environment
from SpiffWorkflow.bpmn.parser import BpmnParser  # type: ignore[import-not-found]  # the same
from SpiffWorkflow.util.task import TaskState  # type: ignore[import-not-found]  # the same

MODEL = "http://www.omg.org/spec/BPMN/20100524/MODEL"


def diagram(steps: int) -> str:
    """A BPMN diagram: start, script tasks that add one, end."""
    names = ["begin", *(f"add{number}" for number in range(steps)), "end"]
    flows = list(itertools.pairwise(names))
    parts = ['<startEvent id="begin"/>']
    parts.extend(
        f'<scriptTask id="add{number}" name="add {number}"><script>x = x + 1</script></scriptTask>'
        for number in range(steps)
    )
    parts.append('<endEvent id="end"/>')
    parts.extend(
        f'<sequenceFlow id="to_{target}" sourceRef="{source}" targetRef="{target}"/>' for source, target in flows
    )
    process = f'<process id="adding" isExecutable="true">{"".join(parts)}</process>'
    return f'<definitions xmlns="{MODEL}" id="bench">{process}</definitions>'


def specification(steps: int) -> Any:
    parser = BpmnParser()
    parser.add_bpmn_str(diagram(steps).encode())
    return parser.get_spec("adding")


def run_once(spec: Any, steps: int) -> None:
    workflow = BpmnWorkflow(spec)
    for task in workflow.get_tasks(state=TaskState.READY):
        task.data["x"] = 0
    workflow.do_engine_steps()
    assert workflow.is_completed()
    assert workflow.last_task.data["x"] == steps


def turn(spec: Any, steps: int, times: int) -> float:
    """CPU seconds for one activity, measured as for Holdfast."""
    gc.collect()
    gc.disable()
    begin = time.process_time()
    for _ in range(times):
        run_once(spec, steps)
    seconds = time.process_time() - begin
    gc.enable()
    return seconds / (times * steps)


def main() -> None:
    specs: dict[int, Any] = {}
    for line in sys.stdin:
        asked = json.loads(line)
        steps = int(asked["steps"])
        if steps not in specs:
            specs[steps] = specification(steps)
            run_once(specs[steps], steps)
        print(json.dumps({"seconds": turn(specs[steps], steps, int(asked["times"]))}), flush=True)


if __name__ == "__main__":
    main()

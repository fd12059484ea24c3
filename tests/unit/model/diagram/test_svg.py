from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from inspect import getsource
from typing import Any
from xml.etree import ElementTree as ET

from hypothesis import given, strategies as st

from holdfast import activity, parallel, wait_for, workflow
from holdfast.model.definition import ActivityNode, Connection, Definition
from holdfast.model.descriptor import ActivityDescriptor
from holdfast.model.diagram import to_mermaid, to_svg
from holdfast.model.diagram.layout import Placed, place
from holdfast.model.diagram.shapes import sketch
from holdfast.model.reader import parse_definition

SVG = "{http://www.w3.org/2000/svg}"
ORDER = parse_definition(
    {
        "id": "order",
        "root": {
            "type": "Flowchart",
            "id": "flow",
            "activities": [
                {"type": "Start", "id": "start"},
                {"type": "Decision", "id": "check", "name": 'Total > "1000"?'},
                {
                    "type": "Sequence",
                    "id": "approve",
                    "activities": [
                        {"type": "Event", "id": "wait", "options": {"can_start": True}},
                        {
                            "type": "Switch",
                            "id": "switch",
                            "cases": [
                                {"label": "A", "activity": {"type": "Break", "id": "b1"}},
                                {
                                    "from": 1,
                                    "entry": {"type": "Break", "id": "b2"},
                                    "exit": {"type": "Break", "id": "b3"},
                                },
                            ],
                            "default": {"type": "Mystery", "id": "m"},
                        },
                    ],
                },
                {
                    "type": "Fork",
                    "id": "end",
                    "branches": [{"type": "Break", "id": "f1"}, {"type": "Break", "id": "f2"}],
                },
            ],
            "connections": [
                {"from": "start", "to": "check"},
                {"from": "check", "to": "approve", "outcome": "True"},
                {"from": "check", "to": "end", "outcome": "False"},
                {"from": "approve", "to": "end"},
                {"from": "approve", "to": "check", "outcome": "Again"},
                {"from": "approve", "to": "nowhere"},
            ],
        },
    }
)
KNOWN = ["Flowchart", "Decision", "Sequence", "Switch", "Fork"]
DESCRIPTORS = {
    **{name: ActivityDescriptor(type=name) for name in KNOWN},
    "Start": ActivityDescriptor(type="Start", start=True, display_name="Begin"),
    "Break": ActivityDescriptor(type="Break", terminal=True),
    "Event": ActivityDescriptor(type="Event", trigger=True),
}


def test_mermaid_text() -> None:
    assert to_mermaid(ORDER, DESCRIPTORS) == (
        """flowchart TD
  subgraph n1["flow · Flowchart"]
    n2(["start<br/>Begin"])
    n3["Total #gt; #quot;1000#quot;?<br/>Decision"]
    subgraph n4["approve · Sequence"]
      n5>"wait<br/>Event"]
      subgraph n6["switch · Switch"]
        subgraph n7["cases: A"]
          n8(["b1<br/>Break"])
        end
        subgraph n9["cases 2"]
          subgraph n10["entry"]
            n11(["b2<br/>Break"])
          end
          subgraph n12["exit"]
            n13(["b3<br/>Break"])
          end
        end
        subgraph n14["default"]
          n15{{"m<br/>Mystery"}}
        end
      end
      n5 --> n6
    end
    subgraph n16["end · Fork"]
      subgraph n17["branches"]
        n18(["f1<br/>Break"])
        n19(["f2<br/>Break"])
      end
    end
    n2 --> n3
    n3 -->|"True"| n4
    n3 -->|"False"| n16
    n4 --> n16
    n4 -.->|"Again"| n3
  end
"""
    )


def test_an_svg_shows_every_activity_and_connection() -> None:
    picture = ET.fromstring(to_svg(ORDER, DESCRIPTORS))
    texts = {text.text for text in picture.iter(f"{SVG}text")}
    assert {"start", 'Total > "1000"?', "b1", "m", "True", "False", "Again"} <= texts
    assert len([path for path in picture.iter(f"{SVG}path") if "marker-end" in path.attrib]) == 6
    assert len(list(picture.iter(f"{SVG}rect"))) == 19
    assert len([rect for rect in picture.iter(f"{SVG}rect") if rect.get("class") == "unknown"]) == 1


def _assert_apart(placed: Placed) -> None:
    """No child leaves its container, no two overlap."""
    for child in placed.children:
        assert child.x >= 0
        assert child.y >= 0
        assert child.x + child.width <= placed.width
        assert child.y + child.height <= placed.height
        _assert_apart(child)
    for index, one in enumerate(placed.children):
        for other in placed.children[index + 1 :]:
            beside = one.x + one.width <= other.x or other.x + other.width <= one.x
            assert beside or one.y + one.height <= other.y or other.y + other.height <= one.y


def test_boxes_stand_apart() -> None:
    _assert_apart(place(sketch(ORDER)))


edges = st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")), max_size=20)


@given(edges, st.text(st.characters(codec=None), max_size=60))
def test_any_flowchart_can_be_drawn(all_edges: list[tuple[str, str]], text: str) -> None:
    definition = Definition(
        id=text or "x",
        root=ActivityNode(
            id=text,
            type="Flowchart",
            ports={"activities": tuple(ActivityNode(id=name, type="A", name=text) for name in "abcdefg")},
            connections=tuple(Connection(source=one, target=other, outcome=text) for one, other in all_edges),
        ),
    )
    _assert_apart(place(sketch(definition)))
    assert ET.fromstring(to_svg(definition)).tag == f"{SVG}svg"
    lines = to_mermaid(definition).splitlines()
    assert len(lines) == 10 + len(all_edges)
    assert all(re.fullmatch(r'[^"]*("[^"]*"[^"]*)?', line) for line in lines)


def test_arrows_point_down_unless_they_lead_back() -> None:
    placed = place(sketch(ORDER))
    by_key: dict[str, Any] = {child.box.key: child for child in placed.children}
    for arrow in placed.box.arrows:
        source, target = by_key[arrow.source], by_key[arrow.target]
        assert (source.y + source.height <= target.y) != arrow.backward


def test_a_large_chart_is_drawn() -> None:
    ids = [f"n{number}" for number in range(500)]
    root = ActivityNode(
        id="r",
        type="Flowchart",
        ports={"activities": tuple(ActivityNode(id=name, type="A") for name in ids)},
        connections=tuple(Connection(source=ids[number // 2], target=ids[number]) for number in range(1, 500)),
    )
    assert to_svg(Definition(id="d", root=root)).count("<rect") == 501


# -- compiled functions ------------------------------------------------------------------------------------------------


@dataclass
class Paper:
    signed: bool


@activity
async def stamp(line: str) -> str:
    return line


@workflow
async def stamping(lines: list[str], limit: int) -> str:
    """Written as people write: stretches of plain Python between the awaits."""
    kept = []
    names = [line.strip() for line in lines if line]
    names.sort()
    if len(names) > limit:
        paper = await wait_for(Paper, timeout=timedelta(days=1), default=Paper(signed=False))
        if not paper.signed:
            return "refused"
    for name in names:
        if name.startswith("#"):
            continue
        found = await stamp(name)
        found = found.upper()
        kept.append(found)
    async with parallel(limit=3) as branches:
        for name in names:
            branches.start(stamp(name))
    total = sum(map(len, kept))
    total += len(branches.results)
    text = ", ".join(kept)
    return f"{text}: {await stamp(str(total))}"


def test_a_compiled_function_is_drawn_as_it_was_written() -> None:
    boxes = list(sketch(stamping.definition).walk())
    titles = [box.title for box in boxes]
    assert titles == [
        "stamping",
        "kept = [] and 2 more",
        "len(names) > limit",
        "wait_for(Paper, timeout=timedelta(days=…",
        "not paper.signed",
        'return "refused"',
        "name in names",
        'name.startswith("#")',
        "stamp(name)",
        "found = found.upper() and 1 more",
        "for name in names",
        "parallel(limit=3)",
        "stamp(name)",
        "total = sum(map(len, kept)) and 2 more",
        'return f"{text}: {await stamp(str(total…',
    ]
    lines = len(getsource(stamping.function).splitlines())
    assert len(boxes) <= lines * 2 / 3


def test_parts_of_a_try_are_named() -> None:
    titles = [box.title for box in sketch(trying.definition).walk()]
    assert titles == [
        "trying",
        "try",
        "stamp(line)",
        'handlers: ValueError: return "bad"',
        'finally: stamp("end")',
        "return line",
    ]


@workflow
async def trying(line: str) -> str:
    try:
        await stamp(line)
    except ValueError:
        return "bad"
    finally:
        await stamp("end")
    return line

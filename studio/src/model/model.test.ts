import { describe, expect, it } from "vitest";
import { catalogue } from "./catalogue.fixture";
import { copyOf, readClip, writeClip } from "./clipboard";
import { outcomesOf } from "./descriptors";
import { diffDocuments } from "./diff";
import { type Activity, type Definition, findActivity, placesOf, updateActivity } from "./document";
import { machine, order } from "./documents.fixture";
import { formatDuration, parseDuration, sayDuration } from "./durations";
import { readInput, toLanguage, writeInput } from "./expressions";
import { chipsOf, crumbsOf, defaultPortOf, type Focus, levelOf, ROOT, readFocus, writeFocus } from "./focus";
import { graphOf } from "./graph";
import { Ids, withFreshIds, withIds } from "./ids";
import { directionOf, layout, placeAll, settle, sizeOf } from "./layout";
import { activityAt, isAbout, mergeProblems, worstByActivity } from "./problems";
import { namesFor, targetsFor } from "./scope";
import { searchDocument } from "./search";
import { summaryOf } from "./summary";
import { validate } from "./validate";

const at = (definition: Definition, id: string): Activity => {
  const found = findActivity(definition, id);
  if (found === undefined) throw new Error(`no ${id}`);
  return found;
};

describe("the document", () => {
  it("finds activities in ports, lists and entries", () => {
    expect([...placesOf(order).keys()]).toEqual([
      "chart",
      "placed",
      "large",
      "kind",
      "check",
      "steps",
      "one",
      "two",
      "else",
      "end",
    ]);
    expect([...placesOf(machine).keys()]).toEqual(["door-machine", "greet", "knock"]);
    expect(placesOf(machine).get("knock")?.path).toEqual(["root", "transitions", 0, "trigger"]);
  });

  it("recognizes an activity in an entry by its children", () => {
    const caught = {
      activity: { type: "Sequence", activities: [{ type: "Break", id: "b" }] },
      shape: { type: "circle", size: [1] },
    };
    const found = withIds({ id: "x", root: { type: "Try", id: "try", catches: [caught] } });
    expect([...placesOf(found).keys()]).toEqual(["try", "Sequence1", "b"]);
  });

  it("generates missing ids like the server", () => {
    const bare = withIds({
      id: "x",
      root: { type: "Sequence", activities: [{ type: "WriteLine" }, { type: "WriteLine", id: "WriteLine1" }] },
    });
    expect([...placesOf(bare).keys()]).toEqual(["Sequence1", "WriteLine2", "WriteLine1"]);
    expect(withIds(order)).toBe(order);
  });

  it("shares everything outside of an edit", () => {
    const next = updateActivity(order, "two", (activity) => ({ ...activity, name: "Wait" }));
    expect(at(next, "placed")).toBe(at(order, "placed"));
    expect(at(next, "two").name).toBe("Wait");
    expect(at(order, "two").name).toBeUndefined();
  });
});

describe("levels", () => {
  it("shows the content of a plain container directly", () => {
    expect(levelOf(order, catalogue, ROOT).kind).toBe("flowchart");
    const then = levelOf(order, catalogue, { id: "check", port: "then" });
    expect([then.kind, then.container?.id, then.activities.length]).toEqual(["sequence", "steps", 2]);
    const otherwise = levelOf(order, catalogue, { id: "check", port: "otherwise" });
    expect([otherwise.kind, otherwise.activities[0]?.id]).toEqual(["single", "else"]);
    expect(levelOf(machine, catalogue, ROOT).kind).toBe("states");
  });

  it("falls back to the root when the container is removed", () => {
    expect(levelOf(order, catalogue, { id: "gone", port: "then" }).container?.id).toBe("chart");
  });

  it("names the path in the breadcrumb", () => {
    const level = levelOf(order, catalogue, { id: "check", port: "then" });
    expect(crumbsOf(order, catalogue, level).map((crumb) => crumb.title)).toEqual(["Order", "If · Then"]);
    const entry = levelOf(machine, catalogue, { id: "door-machine", port: "states", index: 1, key: "entry" });
    expect(entry.activities[0]?.id).toBe("greet");
    expect(crumbsOf(machine, catalogue, entry).map((crumb) => crumb.title)).toEqual([
      "door",
      "State machine · Open entry",
    ]);
  });

  it("opens the first non-empty port", () => {
    expect(defaultPortOf(at(order, "check"), catalogue)).toEqual({ id: "check", port: "then" });
    expect(chipsOf(at(order, "check"), catalogue).map((chip) => [chip.title, chip.count])).toEqual([
      ["Then", 2],
      ["Else", 1],
    ]);
  });

  it("round-trips a focus through the URL", () => {
    for (const focus of [
      ROOT,
      { id: "a/b", port: "then" },
      { id: "s", port: "states", index: 1, key: "entry" },
    ] as Focus[]) {
      expect(readFocus(writeFocus(focus))).toEqual(focus);
    }
  });
});

describe("the graph", () => {
  it("draws connections by outcome", () => {
    const graph = graphOf(levelOf(order, catalogue, ROOT), catalogue);
    expect(graph.edges.map((edge) => edge.label)).toEqual(["", "True", "False", "A", "B", ""]);
    expect(outcomesOf(at(order, "kind"), catalogue.get("FlowSwitch"))).toEqual(["A", "B", "Default"]);
    expect(outcomesOf(at(order, "end"), catalogue.get("End"))).toEqual([]);
  });

  it("draws states and transitions", () => {
    const graph = graphOf(levelOf(machine, catalogue, ROOT), catalogue);
    expect(graph.nodes.map((node) => [node.title, node.starts])).toEqual([
      ["Closed", true],
      ["Open", false],
    ]);
    expect(graph.edges[0]?.label).toBe("open");
  });

  it("returns the same nodes for unchanged activities", () => {
    const next = updateActivity(order, "placed", (activity) => ({ ...activity, name: "Placed" }));
    const [before, after] = [order, next].map(
      (document) => graphOf(levelOf(document, catalogue, ROOT), catalogue).nodes,
    );
    expect(after?.[0]).not.toBe(before?.[0]);
    expect(after?.[1]).toBe(before?.[1]);
  });

  it("marks an unknown type", () => {
    const odd = withIds({ id: "x", root: { type: "Sequence", activities: [{ type: "Acme.Magic" }] } });
    expect(graphOf(levelOf(odd, catalogue, ROOT), catalogue).nodes[0]?.unknown).toBe(true);
  });
});

describe("layout", () => {
  const graph = graphOf(levelOf(order, catalogue, ROOT), catalogue);

  it("places cards on the grid without overlap, in flow direction", () => {
    const places = placeAll(graph, "flowchart", "down");
    const all = graph.nodes.map((node) => ({ ...places.get(node.id)!, ...sizeOf(node, "down") }));
    for (const [index, box] of all.entries()) {
      expect([box.x % 8, box.y % 8].map(Math.abs)).toEqual([0, 0]);
      for (const other of all.slice(index + 1)) {
        const apart =
          box.x + box.width <= other.x ||
          other.x + other.width <= box.x ||
          box.y + box.height <= other.y ||
          other.y + other.height <= box.y;
        expect(apart).toBe(true);
      }
    }
    expect(places.get("large")!.y).toBeGreaterThan(places.get("placed")!.y);
  });

  it("keeps given positions and moves the others aside", () => {
    const computed = layout(graph.nodes, graph.edges, "down");
    const given = new Map([["large", { x: 400, y: 400 }]]);
    const places = settle(graph.nodes, computed, given, "down");
    expect(places.get("large")).toEqual({ x: 400, y: 400 });
    expect(places.size).toBe(graph.nodes.length);
  });

  it("detects the direction of a diagram", () => {
    const wide = updateActivity(
      updateActivity(order, "placed", (activity) => ({ ...activity, metadata: { position: { x: 0, y: 0 } } })),
      "large",
      (activity) => ({ ...activity, metadata: { position: { x: 400, y: 40 } } }),
    );
    expect(directionOf(graphOf(levelOf(wide, catalogue, ROOT), catalogue))).toBe("right");
    expect(directionOf(graph)).toBe("down");
  });

  it("orders a sequence from top to bottom", () => {
    const level = levelOf(order, catalogue, { id: "check", port: "then" });
    const places = placeAll(graphOf(level, catalogue), level.kind, "down");
    expect(places.get("two")!.y).toBeGreaterThan(places.get("one")!.y);
  });
});

describe("summary", () => {
  const line = (type: string, inputs: Activity["inputs"]): string =>
    summaryOf({ type, id: "x", ...(inputs ? { inputs } : {}) }, catalogue.get(type));

  it.each([
    ["FlowDecision", { condition: { $python: "order.total > 1000" } }, "order.total > 1000"],
    ["Delay", { duration: "P3D" }, "in 3 days"],
    ["Delay", { duration: "PT1H30M" }, "in 1 hour 30 minutes"],
    ["HttpEndpoint", { path: "/orders", supported_methods: ["post"] }, "POST /orders"],
    ["SendHttpRequest", { url: "https://a.example/x", method: "put" }, "PUT https://a.example/x"],
    ["SetVariable", { variable: "total", value: { $javascript: "a + b" } }, "total = a + b"],
    ["WriteLine", { text: "one\n two" }, "one"],
    ["ForEach", { items: { $variable: "orders" }, item: "order" }, "each order of orders"],
    ["WriteLine", {}, ""],
  ])("%s", (type, inputs, expected) => expect(line(type, inputs)).toBe(expected));
});

describe("durations and expressions", () => {
  it("parses durations like the server", () => {
    expect(parseDuration("P1DT2H")).toEqual({ days: 1, hours: 2, minutes: 0, seconds: 0 });
    expect(parseDuration("1.02:00:30")).toEqual({ days: 1, hours: 2, minutes: 0, seconds: 30 });
    expect(formatDuration({ days: 0, hours: 0, minutes: 0, seconds: 30 })).toBe("PT30S");
    expect(parseDuration("soon")).toBeNull();
    expect(parseDuration("P")).toBeNull();
    expect(sayDuration("soon")).toBe("soon");
  });

  it("round-trips inputs and escapes data that looks like an expression", () => {
    for (const value of ["x", 3, false, { a: 1 }, [1], { $python: "a" }, { $literal: { $python: "data" } }]) {
      expect(writeInput(readInput(value))).toEqual(value);
    }
    expect(writeInput({ language: "literal", source: { $x: 1 } })).toEqual({ $literal: { $x: 1 } });
    expect(writeInput({ language: "literal", source: null })).toBeUndefined();
  });

  it("keeps the text when the language changes", () => {
    expect(toLanguage({ language: "literal", source: 3 }, "python").source).toBe("3");
    expect(toLanguage({ language: "literal", source: "a" }, "python").source).toBe('"a"');
    expect(toLanguage({ language: "python", source: '"a"' }, "literal").source).toBe("a");
    expect(toLanguage({ language: "python", source: "total" }, "variable").source).toBe("total");
    expect(toLanguage({ language: "variable", source: "total" }, "liquid").source).toBe("{{ total }}");
  });
});

describe("scope", () => {
  it("contains inputs, variables and loop variables", () => {
    const loop = withIds({
      id: "x",
      variables: [{ name: "v" }],
      root: {
        type: "ForEach",
        id: "loop",
        inputs: { items: [], item: "order" },
        body: { type: "WriteLine", id: "in" },
      },
    });
    expect(namesFor(loop, catalogue, "in").map((name) => name.name)).toEqual(["v", "order", "CurrentIndex"]);
    expect(namesFor(order, catalogue, "two").map((name) => name.name)).toEqual(["amount", "result"]);
    expect(targetsFor(order, catalogue, "two").map((name) => name.name)).toEqual(["result", "total"]);
  });
});

describe("client-side validation", () => {
  const codes = (document: Definition): string[] =>
    validate(document, catalogue).map((problem) => `${problem.code} ${problem.activityId}`);

  it("accepts a valid document", () => expect(codes(order)).toEqual([]));

  it("reports missing, unknown and unreachable elements", () => {
    const broken = withIds({
      id: "x",
      root: {
        type: "Flowchart",
        id: "chart",
        activities: [
          { type: "FlowDecision", id: "if", inputs: { condition: true } },
          { type: "Delay", id: "wait" },
          { type: "Acme.Magic", id: "magic" },
          { type: "WriteLine", id: "lost", inputs: { text: { $variable: "nowhere" } } },
        ],
        connections: [
          { from: "wait", to: "magic" },
          { from: "magic", to: "gone" },
          { from: "if", outcome: "Maybe", to: "wait" },
        ],
      },
    });
    expect(codes(broken)).toEqual([
      "unknown-activity chart",
      "unknown-outcome if",
      "unreachable lost",
      "missing-input wait",
      "unknown-type magic",
      "unknown-variable lost",
    ]);
  });

  it("keeps server problems until the activity is edited", () => {
    const expected = {
      document: order,
      problems: [{ code: "bad", path: "/root/activities/1/inputs/condition", message: "no", severity: "error" }],
    };
    expect(activityAt(order, "/root/activities/1/inputs/condition")).toBe("large");
    expect(activityAt(order, "/root/connections/1/outcome")).toBe("large");
    const elsewhere = updateActivity(order, "placed", (activity) => ({ ...activity, name: "P" }));
    expect(mergeProblems(elsewhere, [], expected).map((problem) => problem.activityId)).toEqual(["large"]);
    const edited = updateActivity(order, "large", (activity) => ({ ...activity, name: "L" }));
    expect(mergeProblems(edited, [], expected)).toEqual([]);
    expect(worstByActivity(mergeProblems(order, [], expected)).get("large")).toBe("error");
  });

  it("matches an input exactly, not by prefix", () => {
    const at = (path: string) => ({
      code: "expression",
      path,
      message: "",
      severity: "error" as const,
      activityId: "each",
    });
    expect(isAbout(at("/root/inputs/items"), "inputs", "items")).toBe(true);
    expect(isAbout(at("/root/inputs/items/0/name"), "inputs", "items")).toBe(true);
    expect(isAbout(at("/root/inputs/items"), "inputs", "item")).toBe(false);
    expect(isAbout(at("/root/outputs/items"), "inputs", "items")).toBe(false);
  });
});

describe("diff", () => {
  it("reports added, removed, changed and moved activities", () => {
    const changed = updateActivity(order, "two", (activity) => ({ ...activity, inputs: { duration: "P5D" } }));
    const diff = diffDocuments(order, changed);
    expect(diff.activities).toEqual([
      {
        id: "two",
        type: "Delay",
        title: "Delay",
        change: "changed",
        fields: [{ path: "inputs.duration", before: "P3D", after: "P5D" }],
      },
    ]);
    expect(diffDocuments(order, order)).toEqual({ activities: [], connections: [], fields: [] });
    const moved = updateActivity(order, "two", (activity) => ({ ...activity, metadata: { position: { x: 1, y: 1 } } }));
    expect(diffDocuments(order, moved).activities).toEqual([]);
  });

  it("reports changed connections and declarations", () => {
    const next = {
      ...updateActivity(order, "chart", (chart) => ({ ...chart, connections: chart.connections!.slice(1) })),
      variables: [{ name: "result", type: "integer" }],
    };
    const diff = diffDocuments(order, next);
    expect(diff.connections).toEqual([
      { container: "chart", from: "placed", to: "large", outcome: null, change: "removed" },
    ]);
    expect(diff.fields).toEqual([{ path: "variables[0].type", before: "string", after: "integer" }]);
  });
});

describe("search and clipboard", () => {
  it("finds by name, type and value, best first", () => {
    expect(searchDocument(order, catalogue, "delay")[0]?.place.activity.id).toBe("two");
    expect(searchDocument(order, catalogue, "amount 1000")[0]?.place.activity.id).toBe("large");
    expect(searchDocument(order, catalogue, "zzz")).toEqual([]);
  });

  it("copies as JSON and generates new ids", () => {
    const clip = copyOf(levelOf(order, catalogue, ROOT), new Set(["kind", "check"]));
    const read = readClip(writeClip(clip));
    expect(read).toEqual(clip);
    const [fresh, renamed] = withFreshIds(clip.activities, Ids.of(order));
    expect(fresh.map((activity) => activity.id)).toEqual(["FlowSwitch1", "If1"]);
    expect(renamed.get("steps")).toBe("Sequence1");
    expect(readClip("hello")).toBeNull();
    expect(readClip('{"type": "WriteLine"}')?.activities).toEqual([{ type: "WriteLine", id: "" }]);
    expect(readClip(JSON.stringify(order))?.activities.length).toBe(5);
  });
});

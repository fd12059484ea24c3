import { describe, expect, it } from "vitest";
import { findActivities, grouped } from "../catalogue/activitySearch";
import { withRemoved } from "../diagram/DiffGraph";
import { type Drawing, toEdges, toNodes } from "../diagram/flowElements";
import { catalogue } from "../model/catalogue.fixture";
import type { Definition } from "../model/document";
import { placesOf, updateActivity } from "../model/document";
import { machine, order } from "../model/documents.fixture";
import { levelOf, ROOT } from "../model/focus";
import { graphOf } from "../model/graph";
import { placeAll } from "../model/layout";
import { type Palette, toSvg } from "./imageExport";
import { sourceOf } from "./PythonView";
import { makeRoom } from "./placement";
import { scrollInto } from "./useReveal";

const draw = (document: Definition, more: Partial<Drawing> = {}): Drawing => {
  const level = levelOf(document, catalogue, ROOT);
  const graph = graphOf(level, catalogue);
  return {
    graph,
    level: level.kind,
    places: placeAll(graph, level.kind, "down"),
    direction: "down",
    selection: new Set(),
    problems: new Map(),
    marks: {},
    readOnly: false,
    ...more,
  };
};

describe("nodes for React Flow", () => {
  it("returns the same objects for unchanged cards", () => {
    const before = toNodes(draw(order), []);
    const same = toNodes(draw(order), before);
    expect(same.every((node, index) => node === before[index])).toBe(true);
    const renamed = updateActivity(order, "large", (activity) => ({ ...activity, name: "Large?" }));
    const after = toNodes(draw(renamed), before);
    expect(after.map((node, index) => node === before[index])).toEqual([true, false, true, true, true]);
    const selected = toNodes(draw(order, { selection: new Set(["end"]) }), before);
    expect(selected.filter((node, index) => node !== before[index]).map((node) => node.id)).toEqual(["end"]);
  });

  it("returns the same edges, and lists unconnected outcomes", () => {
    const edges = toEdges(draw(order), []);
    expect(toEdges(draw(order), edges).every((edge, index) => edge === edges[index])).toBe(true);
    expect(edges.map((edge) => edge.sourceHandle)).toEqual(["Done", "True", "False", "A", "B", "Done"]);
    const kind = toNodes(draw(order), []).find((node) => node.id === "kind");
    expect(kind?.type === "card" ? kind.data.open : null).toBe("Default");
  });

  it("converts a state machine", () => {
    expect(toNodes(draw(machine), []).map((node) => node.id)).toEqual(["state:0", "state:1"]);
  });
});

describe("export and diff", () => {
  const palette: Palette = {
    ground: "#fff",
    surface: "#fff",
    line: "#ddd",
    strong: "#888",
    text: "#000",
    soft: "#333",
    accent: "#066",
    accentSoft: "#eff",
    note: "#ffe",
  };

  it("exports valid and escaped SVG", () => {
    const odd = updateActivity(order, "placed", (activity) => ({ ...activity, name: '<script>"' }));
    const { svg } = toSvg(draw(odd), palette);
    expect(svg).toContain("amount &gt; 1000");
    expect(svg).not.toContain("<script>");
    expect(new DOMParser().parseFromString(svg, "image/svg+xml").querySelector("parsererror")).toBeNull();
  });

  it("restores removed activities at their index", () => {
    const fewer = updateActivity(order, "chart", (chart) => ({
      ...chart,
      activities: (chart.activities as never[]).slice(0, 2),
      connections: [],
    }));
    const both = withRemoved(order, fewer);
    expect([...placesOf(both).keys()]).toEqual([...placesOf(order).keys()]);
    expect(both.root.connections?.length).toBe(6);
  });

  it("reads the Python source from the metadata", () => {
    expect(sourceOf({ ...order, metadata: { source: { text: "x", line: 7 }, file: "a.py" } })).toEqual({
      text: "x",
      file: "a.py",
      line: 7,
    });
    expect(sourceOf(order)).toBeNull();
  });
});

describe("the library", () => {
  it("finds by name and by synonym", () => {
    expect(findActivities(catalogue, "dela")[0]?.type).toBe("Delay");
    expect(findActivities(catalogue, "wait")[0]?.type).toBe("Delay");
    expect(findActivities(catalogue, "approval").map((item) => item.type)).toContain("RunTask");
    expect(findActivities(catalogue, "zzz")).toEqual([]);
    expect(grouped(findActivities(catalogue, "")).map(([category]) => category)).toEqual(
      [...grouped(findActivities(catalogue, "")).map(([category]) => category)].sort(),
    );
  });
});

describe("insertion into a connection", () => {
  it("moves only the following cards, and only as far as needed", () => {
    const { graph, places } = draw(order);
    const [edge] = graph.edges;
    const { at, room } = makeRoom(edge!, graph, places, "down")!;
    expect(room.has("placed")).toBe(false);
    const moved = room.get("large")!;
    expect(at.y + 56).toBeLessThan(moved.y);
    expect(moved.x).toBe(places.get("large")!.x);
  });
});

describe("reveal of a new card", () => {
  const seen = { width: 800, height: 600 };
  it("scrolls only as far as needed", () => {
    expect(scrollInto({ x: 100, y: 100, width: 232, height: 56 }, seen)).toEqual({ x: 0, y: 0 });
    expect(scrollInto({ x: 700, y: 100, width: 232, height: 56 }, seen)).toEqual({ x: -180, y: 0 });
    expect(scrollInto({ x: -300, y: 640, width: 232, height: 56 }, seen)).toEqual({ x: 348, y: -144 });
  });

  it("aligns a larger card at its start", () => {
    expect(scrollInto({ x: 200, y: 100, width: 2000, height: 56 }, seen).x).toBe(-152);
  });
});

import { describe, expect, it } from "vitest";
import { catalogue } from "./catalogue.fixture";
import { order } from "./documents.fixture";
import { levelOf, ROOT } from "./focus";
import { graphOf } from "./graph";
import { withIds } from "./ids";
import { isNestable, nestedOf } from "./nestedLayout";
import { detourPath, detours, rounded } from "./routing";

describe("nested layout", () => {
  const nested = nestedOf(order, catalogue);
  const box = (id: string) => nested.boxes.find((item) => item.node.id === id)!;

  it("draws containers as frames around their content", () => {
    expect(box("check").kind).toBe("frame");
    expect(box("check").lanes.map((lane) => lane.title)).toEqual(["Then", "Else"]);
    const [outer, inner] = [box("check"), box("two")];
    expect(inner.x).toBeGreaterThanOrEqual(outer.x);
    expect(inner.x + inner.width).toBeLessThanOrEqual(outer.x + outer.width);
    expect(inner.y + inner.height).toBeLessThanOrEqual(outer.y + outer.height);
    expect(nested.boxes.some((item) => item.node.id === "steps")).toBe(false);
  });

  it("connects sequences and keeps outcomes of flowcharts", () => {
    const ends = nested.edges.map((edge) => `${edge.source}-${edge.label}>${edge.target}`);
    expect(ends).toContain("one->two");
    expect(ends).toContain("large-True>kind");
  });

  it("keeps cards of one level apart", () => {
    const top = nested.boxes.filter((item) => item.depth === 0);
    for (const [index, one] of top.entries()) {
      for (const other of top.slice(index + 1)) {
        const apart =
          one.x + one.width <= other.x ||
          other.x + other.width <= one.x ||
          one.y + one.height <= other.y ||
          other.y + other.height <= one.y;
        expect(apart, `${one.node.id} ${other.node.id}`).toBe(true);
      }
    }
  });

  it("excludes state machines and very large workflows", () => {
    expect(isNestable(withIds({ id: "m", root: { type: "StateMachine" } }), 3)).toBe(false);
    expect(isNestable(order, 1000)).toBe(false);
    expect(isNestable(order, 10)).toBe(true);
  });
});

describe("detours around cards", () => {
  const stacked = withIds({
    id: "x",
    root: {
      type: "Flowchart",
      id: "chart",
      activities: ["a", "b", "c"].map((id, index) => ({
        type: "WriteLine",
        id,
        metadata: { position: { x: 0, y: index * 120 } },
      })),
      connections: [
        { from: "a", to: "b" },
        { from: "a", to: "c" },
        { from: "c", to: "a" },
      ],
    },
  });
  const graph = graphOf(levelOf(stacked, catalogue, ROOT), catalogue);
  const places = new Map(graph.nodes.map((node) => [node.id, node.position!]));
  const found = detours(graph, places, "down");

  it("leaves a free path alone, and routes around a card in the way", () => {
    expect(found.has("a||b|0")).toBe(false);
    const around = found.get("a||c|1")!;
    expect(around.channel < 0 || around.channel > 232).toBe(true);
  });

  it("routes a back edge beside the cards", () => {
    const back = found.get("c||a|2")!;
    expect(back.channel < 0 || back.channel > 232).toBe(true);
  });

  it("draws rounded corners from end to end", () => {
    const { path, label } = detourPath({ x: 0, y: 0 }, { x: 0, y: 200 }, 150, "down");
    expect(path.startsWith("M0 0")).toBe(true);
    expect(path.endsWith("L0 200")).toBe(true);
    expect(label).toEqual({ x: 150, y: 100 });
    expect(rounded([])).toBe("");
  });
});

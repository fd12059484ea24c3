import { describe, expect, it } from "vitest";
import { catalogue } from "./catalogue.fixture";
import type { Definition } from "./document";
import { order } from "./documents.fixture";
import { levelOf, ROOT } from "./focus";
import { graphOf } from "./graph";
import { layout } from "./layout";
import { withOutcomeOrder } from "./outcomeOrder";

const graph = graphOf(levelOf(order, catalogue, ROOT), catalogue);
const outcomes = (drawn: typeof graph, id: string) => drawn.nodes.find((node) => node.id === id)?.outcomes;

describe("outcome order", () => {
  const at = (entries: Record<string, number>) =>
    new Map(graph.nodes.map((node, index) => [node.id, { x: entries[node.id] ?? 0, y: index * 120 }]));
  const [toTrue, toFalse] = ["True", "False"].map(
    (name) => graph.edges.find((edge) => edge.source === "large" && edge.outcome === name)!.target,
  ) as [string, string];

  it("follows the positions of the targets", () => {
    expect(outcomes(withOutcomeOrder(graph, at({ [toTrue]: 0, [toFalse]: 400 }), "down"), "large")).toEqual([
      "True",
      "False",
    ]);
    expect(outcomes(withOutcomeOrder(graph, at({ [toTrue]: 400, [toFalse]: 0 }), "down"), "large")).toEqual([
      "False",
      "True",
    ]);
  });

  it("keeps unconnected outcomes in place and unchanged nodes identical", () => {
    const places = at({ [toTrue]: 400, [toFalse]: 0 });
    const once = withOutcomeOrder(graph, places, "down");
    expect(outcomes(once, "kind")?.at(-1)).toBe("Default");
    expect(withOutcomeOrder(graph, places, "down").nodes.find((node) => node.id === "large")).toBe(
      once.nodes.find((node) => node.id === "large"),
    );
  });

  it("shows an outcome used by a connection even if it is unknown", () => {
    const odd = {
      ...graph,
      edges: [
        ...graph.edges,
        { id: "odd", source: "large", target: toTrue, outcome: "Maybe", label: "Maybe", index: 9 },
      ],
    };
    expect(outcomes(withOutcomeOrder(odd, at({}), "down"), "large")).toContain("Maybe");
  });
});

describe("layout", () => {
  it("keeps a short branch near its source, even with a distant target", () => {
    const line = (id: string) => ({ id, type: "WriteLine", inputs: {} });
    const ids = ["a", "b", "c", "d", "e"];
    const chart = {
      format: "holdfast/definition@1",
      id: "long",
      root: {
        id: "root",
        type: "Flowchart",
        activities: [{ id: "choose", type: "FlowDecision", inputs: {} }, line("no"), ...ids.map(line), line("last")],
        connections: [
          { from: "choose", outcome: "True", to: "a" },
          { from: "choose", outcome: "False", to: "no" },
          ...ids.slice(1).map((id, index) => ({ from: ids[index]!, to: id })),
          { from: "e", to: "last" },
          { from: "no", to: "last" },
        ],
      },
    } as unknown as Definition;
    const long = graphOf(levelOf(chart, catalogue, ROOT), catalogue);
    const places = layout(long.nodes, long.edges, "down");
    expect(places.get("no")?.y).toBe(places.get("a")?.y);
  });
});

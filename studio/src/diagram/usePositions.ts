/** Positions of cards. Returns the same map as long as the shape of the graph is the same. */

import { useRef } from "react";
import type { LevelKind } from "../model/focus";
import type { Graph, Point } from "../model/graph";
import { type Direction, placeAll, sizeOf } from "../model/layout";

export function usePositions(graph: Graph, kind: LevelKind, direction: Direction): ReadonlyMap<string, Point> {
  const last = useRef<{ key: string; computed: ReadonlyMap<string, Point> } | null>(null);
  const key = shapeOf(graph, kind, direction);
  if (last.current?.key !== key) last.current = { key, computed: placeAll(graph, kind, direction) };
  return last.current.computed;
}

function shapeOf(graph: Graph, kind: LevelKind, direction: Direction): string {
  const nodes = graph.nodes.map(
    (node) => `${node.id},${sizeOf(node, direction).height},${node.position?.x ?? ""},${node.position?.y ?? ""}`,
  );
  const edges = graph.edges.map((edge) => `${edge.source}>${edge.target}${edge.label.length}`);
  return [kind, direction, ...nodes, "|", ...edges].join(";");
}

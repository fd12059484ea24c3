/**
 * Order of the outcomes of a card: that of the positions of their targets, so that connections of one card do not
 * cross.
 *
 * An unconnected outcome keeps its index. An outcome used by a connection is shown even if the type no longer has it,
 * so that
 * the connection and its problem stay visible.
 */

import { type Graph, type GraphNode, handleOf, type Point } from "./graph";
import { type Direction, sizeOf } from "./layout";

const cache = new WeakMap<GraphNode, Map<string, GraphNode>>();

export function withOutcomeOrder(graph: Graph, places: ReadonlyMap<string, Point>, direction: Direction): Graph {
  const across = new Map(graph.nodes.map((node) => [node.id, middleOf(node, places, direction)]));
  const targets = new Map<string, Map<string, number[]>>();
  const outcomes = new Map(graph.nodes.map((node) => [node.id, node.outcomes]));
  for (const edge of graph.edges) {
    const handle = handleOf(edge.outcome, outcomes.get(edge.source) ?? []);
    const own = targets.get(edge.source) ?? new Map<string, number[]>();
    targets.set(edge.source, own);
    own.set(handle, [...(own.get(handle) ?? []), across.get(edge.target) ?? 0]);
  }
  const nodes = graph.nodes.map((node) => ordered(node, targets.get(node.id)));
  return nodes.every((node, index) => node === graph.nodes[index]) ? graph : { ...graph, nodes };
}

function middleOf(node: GraphNode, places: ReadonlyMap<string, Point>, direction: Direction): number {
  const at = places.get(node.id) ?? { x: 0, y: 0 };
  const size = sizeOf(node, direction);
  return direction === "down" ? at.x + size.width / 2 : at.y + size.height / 2;
}

function ordered(node: GraphNode, targets: ReadonlyMap<string, readonly number[]> | undefined): GraphNode {
  if (targets === undefined || node.kind === "state") return node;
  const unknown = [...targets.keys()].filter((name) => !node.outcomes.includes(name) && node.outcomes.length > 0);
  const names = [...node.outcomes, ...unknown];
  if (names.length < 2) return node;
  const mean = (name: string): number => {
    const found = targets.get(name) ?? [0];
    return found.reduce((sum, value) => sum + value, 0) / found.length;
  };
  const leading = names.filter((name) => targets.has(name)).sort((one, other) => mean(one) - mean(other));
  const next = names.map((name) => (targets.has(name) ? (leading.shift() ?? name) : name));
  return next.every((name, index) => name === node.outcomes[index]) && next.length === node.outcomes.length
    ? node
    : withOutcomes(node, next);
}

/** Returns the same object for the same order, so that the card does not render again. */
function withOutcomes(node: GraphNode, outcomes: readonly string[]): GraphNode {
  const known = cache.get(node) ?? new Map<string, GraphNode>();
  cache.set(node, known);
  const key = outcomes.join("\n");
  const found = known.get(key) ?? { ...node, outcomes };
  known.set(key, found);
  return found;
}

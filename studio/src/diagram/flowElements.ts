/**
 * Converts the graph into nodes and edges of React Flow. Unchanged elements are the same objects, so that cards do not
 * render again.
 */

import { type Edge, type Node, type NodeHandle, Position } from "@xyflow/react";
import type { LevelKind } from "../model/focus";
import { type Graph, type GraphEdge, type GraphNode, handleOf, type Note, type Point } from "../model/graph";
import { type Direction, sizeOf } from "../model/layout";
import type { Worst } from "../model/problems";
import { type Detour, detours } from "../model/routing";

export interface Mark {
  /**
   * Status as the server names it (`running`, `completed`, `faulted`, …); in a diff `added`, `removed`, `changed`,
   * `moved`.
   */
  readonly status: string;
  readonly count?: number | undefined;
  /** Tooltip of the card. */
  readonly hint?: string | undefined;
}

export type CardData = {
  readonly node: GraphNode;
  readonly direction: Direction;
  readonly level: LevelKind;
  /** Unconnected outcomes, joined by line breaks. */
  readonly open: string;
  readonly problem: Worst | null;
  readonly mark: Mark | null;
  readonly readOnly: boolean;
};

export type NoteData = { readonly note: Note; readonly readOnly: boolean };

export type CardNode = Node<CardData, "card">;
export type NoteNode = Node<NoteData, "note">;
export type AnyNode = CardNode | NoteNode;

export type ConnectionData = {
  readonly label: string;
  readonly index: number | null;
  readonly level: LevelKind;
  readonly readOnly: boolean;
  readonly mark: string | null;
  readonly detour: Detour | null;
};
export type ConnectionEdge = Edge<ConnectionData, "connection">;

const HANDLE = 8;

export interface Drawing {
  readonly graph: Graph;
  readonly level: LevelKind;
  readonly places: ReadonlyMap<string, Point>;
  readonly direction: Direction;
  readonly selection: ReadonlySet<string>;
  readonly problems: ReadonlyMap<string, Worst>;
  readonly marks: Readonly<Record<string, Mark>>;
  readonly readOnly: boolean;
  /** Frames around cards: connections are straight and above the frames. */
  readonly nested?: boolean;
}

export function toNodes(drawing: Drawing, before: readonly AnyNode[]): AnyNode[] {
  const old = new Map(before.map((node) => [node.id, node]));
  const open = openOutcomes(drawing.graph, drawing.level);
  const cards = drawing.graph.nodes.map((node) => card(node, drawing, open.get(node.id) ?? "", old.get(node.id)));
  const notes = drawing.graph.notes.map((note) => noteNode(note, drawing, old.get(`note:${note.id}`)));
  return [...notes, ...cards];
}

function card(node: GraphNode, drawing: Drawing, open: string, before: AnyNode | undefined): CardNode {
  const { direction, level, readOnly } = drawing;
  const data: CardData = {
    node,
    direction,
    level,
    open,
    problem: drawing.problems.get(node.id) ?? null,
    mark: drawing.marks[node.id] ?? null,
    readOnly,
  };
  const position = drawing.places.get(node.id) ?? { x: 0, y: 0 };
  const selected = drawing.selection.has(node.id);
  const kept = before?.type === "card" && sameData(before.data, data) ? before : null;
  if (kept !== null && kept.selected === selected && kept.position.x === position.x && kept.position.y === position.y)
    return kept;
  const size = sizeOf(node, direction);
  return {
    id: node.id,
    type: "card",
    position,
    data: kept?.data ?? data,
    selected,
    ...size,
    measured: size,
    handles: handlesOf(node, direction, size),
    draggable: !readOnly && level !== "single",
    ariaLabel: [node.title, node.typeName, node.summary].filter(Boolean).join(", "),
  };
}

function sameData(left: CardData, right: CardData): boolean {
  return (
    left.node === right.node &&
    left.direction === right.direction &&
    left.level === right.level &&
    left.open === right.open &&
    left.problem === right.problem &&
    left.readOnly === right.readOnly &&
    left.mark?.status === right.mark?.status &&
    left.mark?.count === right.mark?.count &&
    left.mark?.hint === right.mark?.hint
  );
}

function noteNode(note: Note, drawing: Drawing, before: AnyNode | undefined): NoteNode {
  const id = `note:${note.id}`;
  const selected = drawing.selection.has(id);
  if (
    before?.type === "note" &&
    JSON.stringify(before.data.note) === JSON.stringify(note) &&
    before.selected === selected
  ) {
    return before;
  }
  const size = { width: note.width, height: note.height };
  return {
    id,
    type: "note",
    position: { x: note.x, y: note.y },
    data: { note, readOnly: drawing.readOnly },
    selected,
    ...size,
    measured: size,
    zIndex: -1,
    ariaLabel: note.text || "Empty note",
  };
}

/** Computed without a browser, so that connections of cards outside the viewport are drawn too. */
function handlesOf(node: GraphNode, direction: Direction, size: { width: number; height: number }): NodeHandle[] {
  const sides = { width: HANDLE, height: HANDLE };
  const into: NodeHandle =
    direction === "down"
      ? { id: "in", type: "target", position: Position.Top, x: size.width / 2 - HANDLE / 2, y: -HANDLE / 2, ...sides }
      : {
          id: "in",
          type: "target",
          position: Position.Left,
          x: -HANDLE / 2,
          y: size.height / 2 - HANDLE / 2,
          ...sides,
        };
  const names = node.outcomes.length > 0 ? node.outcomes : ["Done"];
  return [
    into,
    ...names.map((id, index): NodeHandle => {
      const share = shareOf(index, names.length);
      return direction === "down"
        ? {
            id,
            type: "source",
            position: Position.Bottom,
            x: size.width * share - HANDLE / 2,
            y: size.height - HANDLE / 2,
            ...sides,
          }
        : {
            id,
            type: "source",
            position: Position.Right,
            x: size.width - HANDLE / 2,
            y: size.height * share - HANDLE / 2,
            ...sides,
          };
    }),
  ];
}

/** Position of an outcome's handle along its side, from 0 to 1. */
export function shareOf(index: number, count: number): number {
  return (index + 1) / (count + 1);
}

function openOutcomes(graph: Graph, level: LevelKind): ReadonlyMap<string, string> {
  const open = new Map<string, string>();
  if (level === "flowchart") {
    const used = new Map<string, Set<string>>();
    const outcomes = new Map(graph.nodes.map((node) => [node.id, node.outcomes]));
    for (const edge of graph.edges) {
      const handle = handleOf(edge.outcome, outcomes.get(edge.source) ?? []);
      const set = used.get(edge.source);
      if (set === undefined) used.set(edge.source, new Set([handle]));
      else set.add(handle);
    }
    for (const node of graph.nodes)
      open.set(node.id, node.outcomes.filter((name) => !used.get(node.id)?.has(name)).join("\n"));
  } else if (level === "states") for (const node of graph.nodes) open.set(node.id, node.outcomes.join("\n"));
  else if (level !== "parallel") {
    const last = graph.nodes.at(-1);
    if (last !== undefined) open.set(last.id, "Done");
  }
  return open;
}

export function toEdges(
  drawing: Drawing,
  before: readonly ConnectionEdge[],
  edgeMarks: Readonly<Record<string, string>> = {},
): ConnectionEdge[] {
  const old = new Map(before.map((edge) => [edge.id, edge]));
  const nodes = new Map(drawing.graph.nodes.map((node) => [node.id, node]));
  const around = drawing.nested ? new Map<string, Detour>() : detours(drawing.graph, drawing.places, drawing.direction);
  return drawing.graph.edges.map((edge) => {
    const detour = around.get(edge.id) ?? null;
    const selected = edge.index !== null && drawing.selection.has(`edge:${edge.index}`);
    const sourceHandle = handleOf(edge.outcome, nodes.get(edge.source)?.outcomes ?? []);
    const mark = edgeMarks[edgeKey(edge)] ?? null;
    const kept = old.get(edge.id);
    if (
      kept?.selected === selected &&
      kept.data?.label === edge.label &&
      kept.sourceHandle === sourceHandle &&
      kept.data.mark === mark &&
      sameDetour(kept.data.detour, detour) &&
      kept.data.readOnly === drawing.readOnly &&
      kept.data.level === drawing.level
    )
      return kept;
    return {
      id: edge.id,
      type: "connection",
      source: edge.source,
      target: edge.target,
      sourceHandle,
      targetHandle: "in",
      selected,
      ...(drawing.nested ? { zIndex: 10 } : {}),
      selectable: edge.index !== null,
      focusable: edge.index !== null,
      reconnectable: edge.index !== null && drawing.level === "flowchart" && !drawing.readOnly,
      data: { label: edge.label, index: edge.index, level: drawing.level, readOnly: drawing.readOnly, mark, detour },
      ariaLabel: `${nodes.get(edge.source)?.title ?? ""} ${edge.label} to ${nodes.get(edge.target)?.title ?? ""}`,
    };
  });
}

function sameDetour(one: Detour | null, other: Detour | null): boolean {
  if (one === null || other === null) return one === other;
  return (
    one.channel === other.channel &&
    one.from.x === other.from.x &&
    one.from.y === other.from.y &&
    one.to.x === other.to.x &&
    one.to.y === other.to.y
  );
}

/** Key of a connection in a diff. */
export function edgeKey(edge: Pick<GraphEdge, "source" | "target" | "outcome">): string {
  return `${edge.source}|${edge.outcome ?? "Done"}|${edge.target}`;
}

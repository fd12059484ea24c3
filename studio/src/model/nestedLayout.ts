/**
 * A whole workflow in one read-only diagram: containers are frames around their content.
 *
 * Sizes are computed from the inside out, then positions from the outside in.
 */

import { type Catalogue, portTitle } from "./descriptors";
import { type Activity, type Connection, type Definition, hasType, isActivityInEntry, slotsOf } from "./document";
import { entryTitle, isMachine } from "./focus";
import { DONE, type GraphEdge, type GraphNode, nodeOf, type Point } from "./graph";
import { CARD_WIDTH, layoutBoxes, type Size, sizeOf, snap } from "./layout";

export interface Lane {
  readonly title: string;
  readonly x: number;
  readonly width: number;
}

export interface Box extends Point, Size {
  readonly kind: "card" | "frame";
  readonly node: GraphNode;
  readonly depth: number;
  readonly lanes: readonly Lane[];
}

export interface Nested {
  readonly boxes: readonly Box[];
  readonly edges: readonly GraphEdge[];
}

/** Containers that only group: their content is shown in their place. */
const THIN: ReadonlySet<string> = new Set(["Sequence", "Flowchart", "Function", "Scope", "Branch"]);

const HEAD = 48;
const LANE_HEAD = 24;
const PAD = 16;
const GAP = 32;
const EMPTY: Size = { width: 96, height: 32 };

export function nestedOf(definition: Definition, catalogue: Catalogue): Nested {
  const boxes: Box[] = [];
  const edges: GraphEdge[] = [];
  const block = blockOf(definition.root, catalogue);
  place(block, { x: 0, y: 0 }, 0, boxes, edges);
  return { boxes, edges };
}

/** Whether one diagram is clearer than separate levels: not for state machines and not for very large workflows. */
export function isNestable(definition: Definition, count: number): boolean {
  return !isMachine(definition.root) && count <= 400;
}

// -- from the inside out -----------------------------------------------------------------------------------------------

interface Item extends Size {
  readonly node: GraphNode;
  readonly parts: readonly { readonly title: string; readonly block: Block }[];
}

interface Block extends Size {
  readonly kind: "chain" | "chart" | "row";
  readonly items: readonly Item[];
  readonly connections: readonly Connection[];
  readonly places: ReadonlyMap<string, Point>;
}

/** Block for one activity. */
function blockOf(activity: Activity, catalogue: Catalogue): Block {
  if (!THIN.has(activity.type)) return chain([activity], catalogue);
  const inner = activity.activities ?? activity.body;
  if (hasType(inner)) return blockOf(inner, catalogue);
  const children = Array.isArray(inner) ? (inner as unknown[]).filter(hasType) : [];
  return activity.type === "Flowchart" ? chart(activity, children, catalogue) : chain(children, catalogue);
}

function chain(activities: readonly Activity[], catalogue: Catalogue): Block {
  // Nested sequences are shown as one sequence.
  const flat = activities.flatMap((activity) => flattened(activity));
  const items = flat.map((activity) => itemOf(activity, catalogue));
  const width = Math.max(EMPTY.width, ...items.map((item) => item.width));
  const places = new Map<string, Point>();
  let y = 0;
  for (const item of items) {
    places.set(item.node.id, { x: snap((width - item.width) / 2), y });
    y += item.height + GAP;
  }
  return { kind: "chain", items, connections: [], places, width, height: items.length === 0 ? EMPTY.height : y - GAP };
}

function flattened(activity: Activity): Activity[] {
  const inner = activity.activities;
  if (activity.type !== "Sequence" || !Array.isArray(inner)) return [activity];
  return (inner as unknown[]).filter(hasType).flatMap(flattened);
}

function row(activities: readonly Activity[], catalogue: Catalogue): Block {
  const items = activities.map((activity) => itemOf(activity, catalogue));
  const places = new Map<string, Point>();
  let x = 0;
  for (const item of items) {
    places.set(item.node.id, { x, y: 0 });
    x += item.width + GAP;
  }
  const height = Math.max(EMPTY.height, ...items.map((item) => item.height));
  return { kind: "row", items, connections: [], places, width: items.length === 0 ? EMPTY.width : x - GAP, height };
}

function chart(activity: Activity, children: readonly Activity[], catalogue: Catalogue): Block {
  const items = children.map((child) => itemOf(child, catalogue));
  const connections = activity.connections ?? [];
  const isPlaced = items.length > 0 && items.every((item) => item.node.position !== null && item.parts.length === 0);
  const places = isPlaced ? given(items) : arranged(items, connections);
  const width = Math.max(EMPTY.width, ...items.map((item) => (places.get(item.node.id)?.x ?? 0) + item.width));
  const height = Math.max(EMPTY.height, ...items.map((item) => (places.get(item.node.id)?.y ?? 0) + item.height));
  return { kind: "chart", items, connections, places, width, height };
}

function given(items: readonly Item[]): Map<string, Point> {
  const left = Math.min(...items.map((item) => item.node.position?.x ?? 0));
  const top = Math.min(...items.map((item) => item.node.position?.y ?? 0));
  return new Map(
    items.map((item) => [
      item.node.id,
      { x: (item.node.position?.x ?? 0) - left, y: (item.node.position?.y ?? 0) - top },
    ]),
  );
}

function arranged(items: readonly Item[], connections: readonly Connection[]): ReadonlyMap<string, Point> {
  const outcomesBySource = connections.map(({ from, to, outcome }, index) => ({
    id: String(index),
    source: from,
    target: to,
    label: outcome ?? "",
  }));
  return layoutBoxes(
    items.map(({ node, width, height }) => ({ id: node.id, width, height })),
    outcomesBySource,
    "down",
  );
}

const bare = new WeakMap<GraphNode, GraphNode>();

/** A frame shows its content, so it needs no port chips. */
function withoutChips(node: GraphNode): GraphNode {
  const known = bare.get(node);
  if (known !== undefined) return known;
  const found = { ...node, chips: [] };
  bare.set(node, found);
  return found;
}

function itemOf(activity: Activity, catalogue: Catalogue): Item {
  const parts = isMachine(activity) ? [] : partsOf(activity, catalogue);
  const whole = nodeOf(activity, catalogue);
  if (parts.length === 0) {
    const node = isMachine(activity) ? whole : withoutChips(whole);
    return { node, parts, ...sizeOf(node, "down") };
  }
  const inner = parts.reduce((sum, part) => sum + part.block.width, 0) + PAD * (parts.length - 1);
  const height = HEAD + LANE_HEAD + Math.max(...parts.map((part) => part.block.height)) + PAD;
  return { node: withoutChips(whole), parts, width: snap(Math.max(CARD_WIDTH, inner + PAD * 2)), height: snap(height) };
}

function partsOf(activity: Activity, catalogue: Catalogue): { title: string; block: Block }[] {
  const ports = new Map((catalogue.get(activity.type)?.ports ?? []).map((port) => [port.name, portTitle(port)]));
  return slotsOf(activity).flatMap((slot): { title: string; block: Block }[] => {
    const title = ports.get(slot.port) ?? slot.port;
    if (slot.kind === "one") return [{ title, block: blockOf(slot.activity, catalogue) }];
    if (slot.kind === "many")
      return [
        { title, block: THIN.has(activity.type) ? chain(slot.activities, catalogue) : row(slot.activities, catalogue) },
      ];
    return slot.entries.flatMap((entry, index) =>
      Object.values(entry)
        .filter(isActivityInEntry)
        .map((child) => ({ title: entryTitle(entry, index), block: blockOf(child, catalogue) })),
    );
  });
}

// -- from the outside in -----------------------------------------------------------------------------------------------

function place(block: Block, at: Point, depth: number, boxes: Box[], edges: GraphEdge[]): void {
  for (const item of block.items) {
    const own = block.places.get(item.node.id) ?? { x: 0, y: 0 };
    placeItem(item, { x: at.x + own.x, y: at.y + own.y }, depth, boxes, edges);
  }
  if (block.kind === "chain") {
    for (const [index, item] of block.items.slice(1).entries()) {
      const before = block.items[index];
      if (before !== undefined) edges.push(edgeOf(before.node, item.node.id, null, ""));
    }
  } else if (block.kind === "chart") {
    const known = new Map(block.items.map((item) => [item.node.id, item.node]));
    const outcomesBySource = new Map<string, Set<string>>();
    for (const { from, outcome } of block.connections)
      outcomesBySource.set(from, (outcomesBySource.get(from) ?? new Set()).add(outcome ?? DONE));
    for (const { from, to, outcome } of block.connections) {
      const source = known.get(from);
      if (source === undefined || !known.has(to)) continue;
      const isPlain = (outcome ?? DONE) === DONE && (outcomesBySource.get(from)?.size ?? 1) <= 1;
      edges.push(edgeOf(source, to, outcome ?? null, isPlain ? "" : (outcome ?? DONE)));
    }
  }
}

function edgeOf(source: GraphNode, target: string, outcome: string | null, label: string): GraphEdge {
  return { id: `${source.id}|${outcome ?? ""}|${target}`, source: source.id, target, outcome, label, index: null };
}

function placeItem(item: Item, at: Point, depth: number, boxes: Box[], edges: GraphEdge[]): void {
  const { node, width, height } = item;
  if (item.parts.length === 0) {
    boxes.push({ kind: "card", node, depth, lanes: [], ...at, width, height });
    return;
  }
  const inner = item.parts.reduce((sum, part) => sum + part.block.width, 0) + PAD * (item.parts.length - 1);
  let x = (width - inner) / 2;
  const lanes = item.parts.map((part) => {
    const lane = { title: part.title, x, width: part.block.width };
    x += part.block.width + PAD;
    return lane;
  });
  boxes.push({ kind: "frame", node, depth, lanes, ...at, width, height });
  for (const [index, part] of item.parts.entries()) {
    place(part.block, { x: at.x + (lanes[index]?.x ?? 0), y: at.y + HEAD + LANE_HEAD }, depth + 1, boxes, edges);
  }
}

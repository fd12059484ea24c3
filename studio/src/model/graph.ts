/** A level as nodes and edges for the canvas. Unchanged activities yield the same node objects. */

import { type ActivityDescriptor, type Catalogue, outcomesOf } from "./descriptors";
import { type Activity, type Connection, titleOf } from "./document";
import { type Chip, chipsOf, isMachine, type Level } from "./focus";
import { isObject, type Json, type JsonObject } from "./json";
import { showValue, summaryOf } from "./summary";

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface GraphNode {
  /** Id of the activity. For a state: `state:` and its index. */
  readonly id: string;
  readonly kind: "activity" | "state";
  readonly title: string;
  /** Name of the type. Empty if it equals the title. */
  readonly typeName: string;
  readonly summary: string;
  readonly icon: string;
  readonly outcomes: readonly string[];
  readonly chips: readonly Chip[];
  /** True if there is no descriptor. The card is marked, never dropped. */
  readonly unknown: boolean;
  readonly trigger: boolean;
  readonly starts: boolean;
  readonly effect: boolean;
  readonly comments: number;
  readonly activity: Activity | null;
  readonly position: Point | null;
  /** Moved by hand: auto-layout does not reposition it. */
  readonly pinned: boolean;
}

export interface GraphEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly outcome: string | null;
  readonly label: string;
  /** Index of the connection or transition in the container. Null for the implied order of a sequence. */
  readonly index: number | null;
}

export interface Note {
  readonly id: string;
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly tone: string;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly notes: readonly Note[];
}

export const DONE = "Done";
export const STATE = "state:";

const cache = new WeakMap<Catalogue, WeakMap<Activity, GraphNode>>();

export function graphOf(level: Level, catalogue: Catalogue): Graph {
  if (level.kind === "states") return machineGraph(level);
  const nodes = level.activities.map((activity) => nodeOf(activity, catalogue));
  return { nodes, edges: edgesOf(level, nodes), notes: notesOf(level.container) };
}

export function nodeOf(activity: Activity, catalogue: Catalogue): GraphNode {
  const known = nodesOf(catalogue);
  const cached = known.get(activity);
  if (cached !== undefined) return cached;
  const node = buildNode(activity, catalogue);
  known.set(activity, node);
  return node;
}

function nodesOf(catalogue: Catalogue): WeakMap<Activity, GraphNode> {
  const known = cache.get(catalogue);
  if (known !== undefined) return known;
  const nodes = new WeakMap<Activity, GraphNode>();
  cache.set(catalogue, nodes);
  return nodes;
}

function buildNode(activity: Activity, catalogue: Catalogue): GraphNode {
  const descriptor = catalogue.get(activity.type);
  const typeName = descriptor?.display_name ?? activity.type;
  const title = titleOf(activity, descriptor?.display_name);
  return {
    id: activity.id,
    kind: "activity",
    title,
    typeName: title === typeName ? "" : typeName,
    summary: summaryOf(activity, descriptor),
    icon: descriptor?.icon ?? iconFor(activity, descriptor),
    outcomes: outcomesOf(activity, descriptor),
    // Effects show only non-empty ports. The inspector links to the others.
    chips: chipsOf(activity, catalogue).filter((chip) => chip.count > 0 || descriptor?.kind !== "effect"),
    unknown: descriptor === undefined && !catalogue.isEmpty,
    trigger: descriptor?.trigger ?? false,
    starts: activity.options?.can_start === true,
    effect: descriptor?.kind === "effect",
    comments: commentsOf(activity).length,
    activity,
    position: positionOf(activity.metadata),
    pinned: isObject(activity.metadata?.position) && activity.metadata.position.pinned === true,
  };
}

function iconFor(activity: Activity, descriptor: ActivityDescriptor | undefined): string {
  if (descriptor === undefined) return "help";
  return isMachine(activity) ? "circle-dot" : "box";
}

export function positionOf(metadata: JsonObject | undefined): Point | null {
  const position = metadata?.position;
  if (!isObject(position)) return null;
  const { x, y } = position;
  return typeof x === "number" && typeof y === "number" && Number.isFinite(x) && Number.isFinite(y) ? { x, y } : null;
}

// -- edges -------------------------------------------------------------------------------------------------------------

function edgesOf(level: Level, nodes: readonly GraphNode[]): GraphEdge[] {
  if (level.kind === "flowchart") return connectionEdges(level.connections, nodes);
  if (level.kind !== "sequence") return [];
  return nodes.slice(1).map((node, position) => {
    const before = nodes[position];
    const source = before?.id ?? "";
    return { id: `${source}→${node.id}`, source, target: node.id, outcome: null, label: "", index: null };
  });
}

function connectionEdges(connections: readonly Connection[], nodes: readonly GraphNode[]): GraphEdge[] {
  const known = new Map(nodes.map((node) => [node.id, node]));
  const outcomesBySource = new Map<string, Set<string>>();
  for (const { from, outcome } of connections)
    outcomesBySource.set(from, (outcomesBySource.get(from) ?? new Set()).add(outcome ?? DONE));
  return connections.flatMap((connection, index) => {
    const source = known.get(connection.from);
    if (source === undefined || !known.has(connection.to)) return [];
    const outcome = connection.outcome ?? null;
    return [
      {
        id: `${connection.from}|${outcome ?? ""}|${connection.to}|${index}`,
        source: connection.from,
        target: connection.to,
        outcome,
        label: edgeLabel(connection, outcomesBySource.get(connection.from)?.size ?? 1, source),
        index,
      },
    ];
  });
}

/** The default outcome is labelled only if another outcome is connected. A delay is always labelled. */
function edgeLabel(connection: Connection, outcomesBySource: number, source: GraphNode): string {
  const outcome = connection.outcome ?? DONE;
  const plain = outcome === DONE && (outcomesBySource <= 1 || source.outcomes.length <= 1);
  const delay = connection.delay;
  return [plain ? "" : outcome, typeof delay === "string" ? `after ${showValue(delay)}` : ""].filter(Boolean).join(" ");
}

/** Source handle of a connection: `null` means `Done`, or the only outcome. */
export function handleOf(outcome: string | null, outcomes: readonly string[]): string {
  if (outcome !== null) return outcome;
  return outcomes.includes(DONE) || outcomes.length === 0 ? DONE : (outcomes[0] ?? DONE);
}

// -- state machines ----------------------------------------------------------------------------------------------------

function machineGraph(level: Level): Graph {
  const initial = level.container?.inputs?.initial;
  const first = typeof initial === "string" ? initial : level.states[0]?.name;
  const nodes = level.states.map((state, index) => stateNode(state, index, state.name === first, level));
  const byName = new Map(level.states.map((state, index) => [String(state.name ?? index), `${STATE}${index}`]));
  const edges = level.transitions.flatMap((transition, index) => {
    const source = byName.get(String(transition.from));
    const target = byName.get(String(transition.to));
    if (source === undefined || target === undefined) return [];
    return [{ id: `transition:${index}`, source, target, outcome: null, label: transitionLabel(transition), index }];
  });
  return { nodes, edges, notes: notesOf(level.container) };
}

function stateNode(state: JsonObject, index: number, starts: boolean, level: Level): GraphNode {
  const container = level.container?.id ?? "";
  const chips = ["entry", "exit"].map((key) => ({
    focus: { id: container, port: "states", index, key },
    title: key === "entry" ? "Entry" : "Exit",
    count: isObject(state[key]) ? 1 : 0,
  }));
  const metadata = state.metadata;
  return {
    id: `${STATE}${index}`,
    kind: "state",
    title: String(state.name ?? index + 1),
    typeName: "",
    summary: starts ? "starts here" : "",
    icon: starts ? "play" : "circle-dot",
    outcomes: [DONE],
    chips,
    unknown: false,
    trigger: false,
    starts,
    effect: false,
    comments: 0,
    activity: null,
    position: positionOf(isObject(metadata) ? metadata : state),
    pinned: true,
  };
}

function transitionLabel(transition: JsonObject): string {
  const name = transition.name;
  const trigger = transition.trigger;
  const text = typeof name === "string" && name ? name : isObject(trigger) ? String(trigger.type) : "";
  const condition = showValue(transition.condition);
  return condition ? `${text} [${condition}]` : text;
}

// -- notes and comments ------------------------------------------------------------------------------------------------

export function notesOf(container: Activity | null): Note[] {
  const notes = container?.metadata?.notes;
  if (!Array.isArray(notes)) return [];
  return (notes as Json[]).filter(isObject).map((note, index) => ({
    id: String(note.id ?? `note${index + 1}`),
    text: String(note.text ?? ""),
    x: number(note.x, 0),
    y: number(note.y, 0),
    width: number(note.width, 200),
    height: number(note.height, 104),
    tone: String(note.tone ?? "wait"),
  }));
}

export interface Comment {
  readonly by: string;
  readonly at: string;
  readonly text: string;
}

export function commentsOf(activity: Activity): Comment[] {
  const comments = activity.metadata?.comments;
  if (!Array.isArray(comments)) return [];
  return (comments as Json[])
    .filter(isObject)
    .map((item) => ({ by: String(item.by ?? ""), at: String(item.at ?? ""), text: String(item.text ?? "") }));
}

function number(value: Json | undefined, otherwise: number): number {
  return typeof value === "number" && Number.isFinite(value) ? value : otherwise;
}

/** Reactions to an edit. Each reaction compares the document before and after any command and adjusts the result. */

import { outcomesOf } from "../model/descriptors";
import { type Activity, type Connection, type Definition, placesOf } from "../model/document";
import { levelOf } from "../model/focus";
import { graphOf, notesOf, positionOf, STATE } from "../model/graph";
import { isList, setAt } from "../model/json";
import { directionOf, placeAll } from "../model/layout";
import type { Command, Context, EditorState } from "./command";

type Reaction = (before: EditorState, after: EditorState, context: Context, command: Command) => EditorState;

const REACTIONS: readonly Reaction[] = [renameOutcomes, removeDanglingConnections, fixPositions, dropStaleSelection];

export function applyReactions(
  before: EditorState,
  after: EditorState,
  context: Context,
  command: Command,
): EditorState {
  if (before.document === after.document) return after;
  return REACTIONS.reduce((state, reaction) => reaction(before, state, context, command), after);
}

/** Changed flowcharts, before and after the edit. */
function* changedCharts(before: Definition, after: Definition): Generator<[Activity | undefined, Activity]> {
  const old = placesOf(before);
  for (const { activity } of placesOf(after).values()) {
    if (activity.connections === undefined) continue;
    const was = old.get(activity.id)?.activity;
    if (was !== activity) yield [was, activity];
  }
}

function withConnections(state: EditorState, chart: Activity, connections: readonly Connection[]): EditorState {
  const path = placesOf(state.document).get(chart.id)?.path;
  return path === undefined
    ? state
    : { ...state, document: setAt(state.document, [...path, "connections"], connections) };
}

/** Renames the connections of a renamed case or branch, and removes those of a removed one. */
function renameOutcomes(
  before: EditorState,
  after: EditorState,
  { catalogue }: Context,
  command: Command,
): EditorState {
  if (command.name === "source" || command.name === "connect") return after;
  const old = placesOf(before.document);
  let state = after;
  for (const [, chart] of changedCharts(before.document, after.document)) {
    const moves = new Map<string, ReadonlyMap<string, string | null>>();
    for (const child of childrenOf(chart)) {
      const was = old.get(child.id)?.activity;
      if (was === undefined || was === child || was.type !== child.type) continue;
      const descriptor = catalogue.get(child.type);
      const from = outcomesOf(was, descriptor);
      const to = outcomesOf(child, descriptor);
      if (from.join("\u0000") !== to.join("\u0000")) moves.set(child.id, outcomeMoves(from, to));
    }
    if (moves.size === 0) continue;
    const connections = (chart.connections ?? []).flatMap((connection): Connection[] => {
      const move = moves.get(connection.from)?.get(connection.outcome ?? "Done");
      if (move === undefined) return [connection];
      return move === null ? [] : [{ ...connection, outcome: move }];
    });
    state = withConnections(state, chart, connections);
  }
  return state;
}

/** Maps an old outcome to the new one at the same index, or to null if it was removed. */
function outcomeMoves(from: readonly string[], to: readonly string[]): ReadonlyMap<string, string | null> {
  const moves = new Map<string, string | null>();
  for (const [index, name] of from.entries()) {
    if (to.includes(name)) continue;
    const next = to[index];
    moves.set(name, from.length === to.length && next !== undefined && !from.includes(next) ? next : null);
  }
  return moves;
}

/** Removes connections to a removed activity. Connections that dangled before stay, so that the author sees them. */
function removeDanglingConnections(before: EditorState, after: EditorState): EditorState {
  let state = after;
  for (const [was, chart] of changedCharts(before.document, after.document)) {
    const now = new Set(childrenOf(chart).map((child) => child.id));
    const once = new Set(was === undefined ? [] : childrenOf(was).map((child) => child.id));
    const gone = (id: string): boolean => once.has(id) && !now.has(id);
    const kept = (chart.connections ?? []).filter((connection) => !gone(connection.from) && !gone(connection.to));
    if (kept.length !== (chart.connections ?? []).length) state = withConnections(state, chart, kept);
  }
  return state;
}

function childrenOf(chart: Activity): readonly Activity[] {
  const children = chart.activities;
  return isList(children) ? (children as unknown as readonly Activity[]) : [];
}

/**
 * Once one card of a flowchart has a position, all cards get one. Cards placed by auto-layout keep the position in
 * which
 * they were shown, so that the diagram does not jump when it is opened again.
 */
function fixPositions(before: EditorState, after: EditorState, { catalogue }: Context, command: Command): EditorState {
  if (command.name === "source" || command.name === "paste") return after;
  const level = levelOf(after.document, catalogue, after.focus);
  if (level.kind !== "flowchart" || !level.activities.some((activity) => positionOf(activity.metadata) !== null))
    return after;
  if (level.activities.every((activity) => positionOf(activity.metadata) !== null)) return after;
  const was = levelOf(before.document, catalogue, before.focus);
  if (was.container?.id !== level.container?.id) return after;
  const graph = graphOf(was, catalogue);
  const seen = placeAll(graph, was.kind, directionOf(graph));
  const placed = level.activities.map((activity) => {
    const at = seen.get(activity.id);
    if (at === undefined || positionOf(activity.metadata) !== null) return activity;
    return { ...activity, metadata: { ...activity.metadata, position: { x: at.x, y: at.y } } };
  });
  return { ...after, document: setAt(after.document, level.path, placed) };
}

/** Drops a selection or focus that no longer exists. */
function dropStaleSelection(_before: EditorState, after: EditorState, { catalogue }: Context): EditorState {
  const level = levelOf(after.document, catalogue, after.focus);
  const places = placesOf(after.document);
  const notes = new Set(notesOf(level.container).map((note) => `note:${note.id}`));
  const isThere = (id: string): boolean =>
    id.startsWith(STATE)
      ? Number(id.slice(STATE.length)) < level.states.length
      : places.has(id) || notes.has(id) || id.startsWith("edge:");
  const selection = after.selection.every(isThere) ? after.selection : after.selection.filter(isThere);
  const isGone = after.focus.id !== null && !places.has(after.focus.id);
  return { ...after, selection, focus: isGone ? level.focus : after.focus };
}

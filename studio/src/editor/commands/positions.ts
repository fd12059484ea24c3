/** Commands on positions: move, align, distribute, auto-layout. */

import { type Activity, placesOf } from "../../model/document";
import type { Level } from "../../model/focus";
import { type Graph, graphOf, notesOf, type Point, STATE } from "../../model/graph";
import { isObject, type Json, type JsonObject, setAt } from "../../model/json";
import { type Direction, directionOf, layout, placeAll, settle, sizeOf, snap } from "../../model/layout";
import type { Command, Context, EditorState } from "../command";
import { levelIn, mayArrange } from "../rules";
import { withDocument } from "./levels";

export type Positions = ReadonlyMap<string, Point>;

/** Moves cards by hand. Auto-layout leaves them where they are. */
export function move(places: Positions): Command {
  return {
    name: "move",
    label: places.size === 1 ? "move" : `move ${places.size} cards`,
    do: (state, context) => place(state, levelIn(state, context), places, true),
  };
}

function place(state: EditorState, level: Level, places: Positions, pinned: boolean): EditorState {
  if (level.kind === "states") return placeStates(state, level, places);
  let document = state.document;
  if (level.kind === "flowchart") {
    const next = level.activities.map((activity) => {
      const at = places.get(activity.id);
      return at === undefined ? activity : withPosition(activity, at, pinned);
    });
    if (next.some((activity, index) => activity !== level.activities[index]))
      document = setAt(document, level.path, next);
  }
  return placeNotes(withDocument(state, document), level, places);
}

function withPosition(activity: Activity, at: Point, pinned: boolean): Activity {
  const position = { x: snap(at.x), y: snap(at.y), ...(pinned ? { pinned: true } : {}) };
  const before = activity.metadata?.position;
  if (isObject(before) && before.x === position.x && before.y === position.y) return activity;
  return { ...activity, metadata: { ...activity.metadata, position } };
}

function placeStates(state: EditorState, level: Level, places: Positions): EditorState {
  const path = level.container === null ? undefined : placesOf(state.document).get(level.container.id)?.path;
  if (path === undefined) return state;
  const states = level.states.map((entry, index): JsonObject => {
    const at = places.get(`${STATE}${index}`);
    if (at === undefined) return entry;
    const metadata = isObject(entry.metadata) ? entry.metadata : {};
    return { ...entry, metadata: { ...metadata, position: { x: snap(at.x), y: snap(at.y) } } };
  });
  return placeNotes(withDocument(state, setAt(state.document, [...path, "states"], states)), level, places);
}

function placeNotes(state: EditorState, level: Level, places: Positions): EditorState {
  const notes = level.container?.metadata?.notes;
  const path = level.container === null ? undefined : placesOf(state.document).get(level.container.id)?.path;
  if (path === undefined || !Array.isArray(notes) || ![...places.keys()].some((id) => id.startsWith("note:")))
    return state;
  const ids = notesOf(level.container).map((note) => `note:${note.id}`);
  const next = (notes as Json[]).map((note, index) => {
    const at = places.get(ids[index] ?? "");
    return at === undefined || !isObject(note) ? note : { ...note, x: snap(at.x), y: snap(at.y) };
  });
  return withDocument(state, setAt(state.document, [...path, "metadata", "notes"], next));
}

// -- arranging ---------------------------------------------------------------------------------------------------------

export type Side = "left" | "right" | "top" | "bottom" | "centre" | "middle";

interface Box extends Point {
  readonly id: string;
  readonly width: number;
  readonly height: number;
}

function boxes(state: EditorState, level: Level, context: Context): Box[] {
  const graph = graphOf(level, context.catalogue);
  const direction = directionIn(level, graph);
  const places = placeAll(graph, level.kind, direction);
  const nodes = graph.nodes.filter((node) => state.selection.includes(node.id));
  return nodes.map((node) => ({ id: node.id, ...(places.get(node.id) ?? { x: 0, y: 0 }), ...sizeOf(node, direction) }));
}

/** Direction set on the container, or else the prevailing direction of the diagram. */
export function directionIn(level: Level, graph: Graph): Direction {
  const direction = level.container?.metadata?.direction;
  return direction === "right" || direction === "down" ? direction : directionOf(graph);
}

export function align(side: Side): Command {
  return {
    name: "align",
    label: `align ${side}`,
    check: (state, context) => mayArrange(state, context, 2),
    do(state, context) {
      const level = levelIn(state, context);
      const all = boxes(state, level, context);
      return place(state, level, new Map(all.map((box) => [box.id, aligned(box, all, side)])), true);
    },
  };
}

function aligned(box: Box, all: readonly Box[], side: Side): Point {
  const left = Math.min(...all.map((item) => item.x));
  const right = Math.max(...all.map((item) => item.x + item.width));
  const top = Math.min(...all.map((item) => item.y));
  const bottom = Math.max(...all.map((item) => item.y + item.height));
  switch (side) {
    case "left":
      return { x: left, y: box.y };
    case "right":
      return { x: right - box.width, y: box.y };
    case "centre":
      return { x: (left + right - box.width) / 2, y: box.y };
    case "top":
      return { x: box.x, y: top };
    case "bottom":
      return { x: box.x, y: bottom - box.height };
    case "middle":
      return { x: box.x, y: (top + bottom - box.height) / 2 };
  }
}

/** Makes the gaps between the outermost two cards equal. */
export function distribute(axis: "x" | "y"): Command {
  const length = axis === "x" ? "width" : "height";
  return {
    name: "distribute",
    label: axis === "x" ? "distribute horizontally" : "distribute vertically",
    check: (state, context) => mayArrange(state, context, 3),
    do(state, context) {
      const level = levelIn(state, context);
      const all = boxes(state, level, context).sort((one, other) => one[axis] - other[axis]);
      const first = all[0];
      const last = all.at(-1);
      if (first === undefined || last === undefined || all.length < 3) return state;
      const filled = all.reduce((sum, box) => sum + box[length], 0);
      const gap = (last[axis] + last[length] - first[axis] - filled) / (all.length - 1);
      const places = new Map<string, Point>();
      let at = first[axis];
      for (const box of all) {
        places.set(box.id, { x: box.x, y: box.y, [axis]: at });
        at += box[length] + gap;
      }
      return place(state, level, places, true);
    },
  };
}

/** Positions cards that were not moved by hand. `everything` repositions all cards. */
export function autoLayout(everything = false, direction?: Direction): Command {
  return {
    name: "layout",
    label: everything ? "reset layout" : "auto layout",
    check: (state, context) => mayArrange(state, context, 0),
    do(state, context) {
      const level = levelIn(state, context);
      const graph = graphOf(level, context.catalogue);
      const way = direction ?? directionIn(level, graph);
      const computed = layout(graph.nodes, graph.edges, way);
      const fixed = everything
        ? []
        : graph.nodes.filter((node) => node.pinned && node.position !== null && node.kind === "activity");
      const given = new Map(fixed.map((node) => [node.id, node.position ?? { x: 0, y: 0 }]));
      const places = given.size === 0 ? computed : settle(graph.nodes, computed, given, way);
      const next = place(state, level, everything ? places : without(places, given), false);
      return direction === undefined || level.container === null
        ? next
        : withDirection(next, level.container.id, direction);
    },
  };
}

function without(places: Positions, given: Positions): Positions {
  return new Map([...places].filter(([id]) => !given.has(id)));
}

function withDirection(state: EditorState, id: string, direction: Direction): EditorState {
  const path = placesOf(state.document).get(id)?.path;
  return path === undefined
    ? state
    : withDocument(state, setAt(state.document, [...path, "metadata", "direction"], direction));
}

/** Shared helpers of the commands: read and write the list or slot that the canvas shows. */

import { type Activity, type Connection, type Definition, placesOf } from "../../model/document";
import type { Level } from "../../model/focus";
import { Ids } from "../../model/ids";
import { type Json, setAt } from "../../model/json";
import type { EditorState } from "../command";

export function withDocument(state: EditorState, document: Definition): EditorState {
  return document === state.document ? state : { ...state, document };
}

export function setActivities(document: Definition, level: Level, activities: readonly Activity[]): Definition {
  if (level.kind !== "single") return setAt(document, level.path, activities);
  if (activities.length > 1) {
    const sequence = (id: string) => setAt(document, level.path, { type: "Sequence", id, activities });
    // Includes the inserted activities in the count: one of them may be a sequence.
    return sequence(Ids.of(sequence("")).take("Sequence"));
  }
  const [only] = activities;
  return setAt(document, level.path, only ?? emptySlot(document, level));
}

/** A definition always has a root. */
function emptySlot(document: Definition, level: Level): Activity | undefined {
  return level.focus.id === null
    ? { type: "Flowchart", id: Ids.of(document).take("Flowchart"), activities: [] }
    : undefined;
}

export function setConnections(document: Definition, chartId: string, connections: readonly Connection[]): Definition {
  const place = placesOf(document).get(chartId);
  return place === undefined ? document : setAt(document, [...place.path, "connections"], connections);
}

export function changeActivity(state: EditorState, id: string, change: (activity: Activity) => Activity): EditorState {
  const place = placesOf(state.document).get(id);
  if (place === undefined) return state;
  return withDocument(state, setAt(state.document, place.path, change(place.activity)));
}

/** Sets or removes one key of an object of the activity. Removes the object when it becomes empty. */
export function setInside(activity: Activity, part: string, key: string, value: Json | undefined): Activity {
  const before = (activity[part] ?? {}) as { [key: string]: Json | undefined };
  const { [key]: _old, ...rest } = before;
  const next = value === undefined ? rest : { ...before, [key]: value };
  if (Object.keys(next).length > 0) return { ...activity, [part]: next };
  const { [part]: _part, ...without } = activity;
  return without as Activity;
}

export function setKey(activity: Activity, key: string, value: Json | undefined): Activity {
  return setAt(activity, [key], value);
}

/** A connection in document form: the default outcome `Done` is omitted. */
export function connection(from: string, outcome: string | null, to: string): Connection {
  return outcome === null || outcome === "Done" ? { from, to } : { from, outcome, to };
}

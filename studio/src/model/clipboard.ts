/** Copy and paste as JSON text, across workflows, windows and editors. */

import { type Activity, type Connection, hasType } from "./document";
import type { Level } from "./focus";
import { mapChildren } from "./ids";
import { isList, isObject, type Json } from "./json";

export const CLIP = "holdfast/clip@1";

export interface Clip {
  readonly activities: readonly Activity[];
  readonly connections: readonly Connection[];
}

export function copyOf(level: Level, ids: ReadonlySet<string>): Clip {
  return {
    activities: level.activities.filter((activity) => ids.has(activity.id)),
    connections: level.connections.filter((connection) => ids.has(connection.from) && ids.has(connection.to)),
  };
}

export function writeClip(clip: Clip): string {
  return JSON.stringify({ format: CLIP, ...clip }, null, 2);
}

/** Also reads an activity, a list of activities or a whole definition. Returns null for anything else. */
export function readClip(text: string): Clip | null {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return null;
  }
  const clip = clipOf(value);
  return clip === null || clip.activities.length === 0 ? null : { ...clip, activities: clip.activities.map(withId) };
}

function clipOf(value: Json): Clip | null {
  if (hasType(value)) return { activities: [value], connections: [] };
  if (isList(value)) return value.every(hasType) ? { activities: value, connections: [] } : null;
  if (!isObject(value)) return null;
  const root = value.root;
  if (hasType(root)) {
    const inner = root.activities;
    return root.type === "Flowchart" && isList(inner)
      ? { activities: inner.filter(hasType), connections: root.connections ?? [] }
      : { activities: [root], connections: [] };
  }
  const { activities, connections } = value;
  if (!isList(activities) || !activities.every(hasType)) return null;
  const between = isList(connections) ? connections.filter(isConnection) : [];
  return { activities, connections: between };
}

function isConnection(value: Json): value is Connection {
  return isObject(value) && typeof value.from === "string" && typeof value.to === "string";
}

/** An empty id is replaced on paste, like an id that is in use. */
function withId(activity: Activity): Activity {
  const own = typeof activity.id === "string" ? activity : { ...(activity as Activity), id: "" };
  return mapChildren(own, withId);
}

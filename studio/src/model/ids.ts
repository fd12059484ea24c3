/** Ids of activities, generated from the type like on the server (`WriteLine1`). Ids are never reused. */

import { type Activity, type Definition, hasType, isActivityInEntry, placesOf, slotsOf } from "./document";
import { isList, isObject, type Json, type JsonObject } from "./json";

export class Ids {
  private readonly used: Set<string>;

  constructor(used: Iterable<string> = []) {
    this.used = new Set(used);
  }

  static of(definition: Definition): Ids {
    return new Ids(placesOf(definition).keys());
  }

  has(id: string): boolean {
    return this.used.has(id);
  }

  take(type: string): string {
    const short = type.replaceAll(":", ".").split(".").at(-1) ?? "";
    const base = [...short].filter((char) => /[\p{L}\p{N}_-]/u.test(char)).join("") || "Activity";
    let number = 1;
    while (this.used.has(`${base}${number}`)) number += 1;
    return this.keep(`${base}${number}`);
  }

  keep(id: string): string {
    this.used.add(id);
    return id;
  }
}

/** Gives an id to every activity without one. Returns the same document if none is missing. */
export function withIds(document: JsonObject): Definition {
  const ids = new Ids(idsIn(document));
  const root = document.root;
  const named = hasType(root) ? identify(root, ids) : { type: "Flowchart", id: ids.take("Flowchart") };
  return (named === root ? document : { ...document, root: named }) as unknown as Definition;
}

function identify(activity: JsonObject, ids: Ids): Activity {
  const id = activity.id;
  const type = String(activity.type);
  const named = typeof id === "string" && id !== "" ? activity : { ...activity, id: ids.take(type) };
  return mapChildren(named as Activity, (child) => identify(child, ids));
}

/** Copy with every child replaced by the result of the function. Returns the same object if nothing changed. */
export function mapChildren(activity: Activity, change: (child: Activity) => Activity): Activity {
  let next: Activity = activity;
  for (const slot of slotsOf(activity)) {
    const before = activity[slot.port] as Json;
    const after = mapSlot(before, change);
    if (after !== before) next = { ...next, [slot.port]: after };
  }
  return next;
}

function mapSlot(value: Json, change: (child: Activity) => Activity): Json {
  if (hasType(value)) return change(value);
  if (!isList(value)) return value;
  const many = value.every(hasType);
  return same(
    value,
    value.map((item) => (many ? change(item as unknown as Activity) : isObject(item) ? mapEntry(item, change) : item)),
  );
}

function mapEntry(entry: JsonObject, change: (child: Activity) => Activity): JsonObject {
  let next = entry;
  for (const [key, value] of Object.entries(entry)) {
    if (!isActivityInEntry(value)) continue;
    const after = change(value);
    if (after !== value) next = { ...next, [key]: after };
  }
  return next;
}

function same(before: readonly Json[], after: readonly Json[]): readonly Json[] {
  return after.every((item, index) => Object.is(item, before[index])) ? before : after;
}

/** Collects everything that looks like an id, so that a generated id never collides. */
function idsIn(value: Json | undefined, found = new Set<string>()): Set<string> {
  if (isList(value)) for (const item of value) idsIn(item, found);
  else if (isObject(value)) {
    if (typeof value.id === "string") found.add(value.id);
    for (const inner of Object.values(value)) idsIn(inner, found);
  }
  return found;
}

/** Copies of the activities with unused ids, for paste and duplicate. Also returns the map from old to new ids. */
export function withFreshIds(activities: readonly Activity[], ids: Ids): [Activity[], ReadonlyMap<string, string>] {
  const renamed = new Map<string, string>();
  const fresh = (activity: Activity): Activity => {
    const id = ids.has(activity.id) || !activity.id ? ids.take(activity.type) : ids.keep(activity.id);
    renamed.set(activity.id, id);
    const inner = mapChildren({ ...activity, id }, fresh);
    return reconnect(inner, renamed);
  };
  return [activities.map(fresh), renamed];
}

function reconnect(activity: Activity, renamed: ReadonlyMap<string, string>): Activity {
  let next = activity;
  if (activity.connections !== undefined) {
    next = {
      ...next,
      connections: activity.connections.map((connection) => ({
        ...connection,
        from: renamed.get(connection.from) ?? connection.from,
        to: renamed.get(connection.to) ?? connection.to,
      })),
    };
  }
  return next;
}

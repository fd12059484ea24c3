/** Ids of activities: made from the type as the server makes them (`WriteLine1`), never taken twice. */

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

/** Gives an id to every activity that has none; the same document if all have one. */
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

/** A copy in which every child is what the function makes of it; the same object if nothing changed. */
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

/** Whatever looks like an id anywhere, so that a made-up one is never taken. */
function idsIn(value: Json | undefined, found = new Set<string>()): Set<string> {
  if (isList(value)) for (const item of value) idsIn(item, found);
  else if (isObject(value)) {
    if (typeof value.id === "string") found.add(value.id);
    for (const inner of Object.values(value)) idsIn(inner, found);
  }
  return found;
}

/** The same activities under ids that nobody uses: for paste and duplicate. Answers also old id → new id. */
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

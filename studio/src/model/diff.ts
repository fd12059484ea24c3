/** Difference between two documents, for the visual diff. Activities are matched by id. */

import { type Activity, type Definition, hasType, OWN_KEYS, type Place, placesOf, slotsOf } from "./document";
import { equal, isList, isObject, type Json, type JsonObject } from "./json";

export type ChangeKind = "added" | "removed" | "changed" | "moved";

export interface FieldChange {
  readonly path: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

export interface ActivityChange {
  readonly id: string;
  readonly type: string;
  readonly title: string;
  readonly change: ChangeKind;
  readonly fields: readonly FieldChange[];
}

export interface ConnectionChange {
  readonly container: string;
  readonly from: string;
  readonly to: string;
  readonly outcome: string | null;
  readonly change: "added" | "removed";
}

export interface DocumentDiff {
  readonly activities: readonly ActivityChange[];
  readonly connections: readonly ConnectionChange[];
  /** Fields of the definition itself: name, variables, inputs, options … */
  readonly fields: readonly FieldChange[];
}

/** Identifies a connection change within one diff. */
export const connectionKey = ({ container, from, outcome, to, change }: ConnectionChange): string =>
  [container, from, outcome ?? "Done", to, change].join(" ");

export function diffDocuments(before: Definition, after: Definition): DocumentDiff {
  const old = placesOf(before);
  const now = placesOf(after);
  const activities: ActivityChange[] = [];
  for (const [id, place] of now) {
    const other = old.get(id);
    if (other === undefined) activities.push(change(place.activity, "added"));
    else {
      const fields = activityFields(other.activity, place.activity);
      if (fields.length > 0) activities.push({ ...change(place.activity, "changed"), fields });
      else if (isElsewhere(other, place)) activities.push(change(place.activity, "moved"));
    }
  }
  for (const [id, place] of old) if (!now.has(id)) activities.push(change(place.activity, "removed"));
  return { activities, connections: connectionChanges(old, now), fields: definitionFields(before, after) };
}

function change(activity: Activity, kind: ChangeKind): ActivityChange {
  return { id: activity.id, type: activity.type, title: activity.name || activity.type, change: kind, fields: [] };
}

function isElsewhere(before: Place, after: Place): boolean {
  return before.parent !== after.parent || before.port !== after.port || before.key !== after.key;
}

/** Excludes children, connections and metadata, which does not affect execution. */
function activityFields(before: Activity, after: Activity): FieldChange[] {
  return [...fieldChanges(bare(before), bare(after), "")];
}

function bare(activity: Activity): JsonObject {
  const { metadata: _metadata, connections: _connections, ...rest } = activity;
  const ports = new Set(slotsOf(activity).map((slot) => slot.port));
  return Object.fromEntries(
    Object.entries(rest).flatMap(([key, value]): [string, Json | undefined][] => {
      if (OWN_KEYS.has(key) || !ports.has(key)) return [[key, value]];
      // Compares only the data of entries. Their activities are compared separately.
      return isList(value) && !value.every(hasType) ? [[key, value.map(withoutActivities)]] : [];
    }),
  );
}

function withoutActivities(entry: Json): Json {
  return isObject(entry) ? Object.fromEntries(Object.entries(entry).filter(([, value]) => !hasType(value))) : entry;
}

export function* fieldChanges(before: Json | undefined, after: Json | undefined, path: string): Generator<FieldChange> {
  if (equal(before, after)) return;
  if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      yield* fieldChanges(before[key], after[key], path ? `${path}.${key}` : key);
    }
  } else if (isList(before) && isList(after)) {
    for (let index = 0; index < Math.max(before.length, after.length); index += 1) {
      yield* fieldChanges(before[index], after[index], `${path}[${index}]`);
    }
  } else yield { path, before, after };
}

function connectionChanges(old: ReadonlyMap<string, Place>, now: ReadonlyMap<string, Place>): ConnectionChange[] {
  const before = connectionsIn(old);
  const after = connectionsIn(now);
  return [
    ...[...after].filter(([key]) => !before.has(key)).map(([, item]) => ({ ...item, change: "added" as const })),
    ...[...before].filter(([key]) => !after.has(key)).map(([, item]) => ({ ...item, change: "removed" as const })),
  ];
}

function connectionsIn(places: ReadonlyMap<string, Place>): Map<string, Omit<ConnectionChange, "change">> {
  const found = new Map<string, Omit<ConnectionChange, "change">>();
  for (const { activity } of places.values()) {
    for (const { from, to, outcome } of activity.connections ?? []) {
      const item = { container: activity.id, from, to, outcome: outcome ?? null };
      found.set([activity.id, from, outcome ?? "Done", to].join("\u0000"), item);
    }
  }
  return found;
}

function definitionFields(before: Definition, after: Definition): FieldChange[] {
  const own = ({
    root: _root,
    metadata: _metadata,
    version: _version,
    $schema: _schema,
    ...rest
  }: Definition): JsonObject => rest;
  return [...fieldChanges(own(before), own(after), "")];
}

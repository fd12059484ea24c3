/**
 * The definition document (`holdfast/definition@1`) as typed, immutable JSON, with the location of each activity.
 *
 * The children of an activity are stored beside its inputs, under the name of their port: one activity, a list of
 * activities,
 * or a list of entries (objects with data and activities, such as the cases of a Switch).
 */

import { isList, isObject, type Json, type JsonObject, type Path, setAt } from "./json";

export const FORMAT = "holdfast/definition@1";

export interface Connection extends JsonObject {
  readonly from: string;
  readonly to: string;
  readonly outcome?: string | null;
}

export interface Variable extends JsonObject {
  readonly name: string;
  readonly type?: string;
}

export interface Activity extends JsonObject {
  readonly type: string;
  readonly id: string;
  readonly name?: string | null;
  readonly version?: number;
  readonly inputs?: JsonObject;
  readonly outputs?: JsonObject;
  readonly variables?: readonly Variable[];
  readonly connections?: readonly Connection[];
  readonly options?: JsonObject;
  readonly metadata?: JsonObject;
}

export interface Declaration extends JsonObject {
  readonly name: string;
  readonly type?: string;
  readonly required?: boolean;
  readonly description?: string | null;
  readonly display_name?: string | null;
}

export interface Definition extends JsonObject {
  readonly id: string;
  readonly name?: string | null;
  readonly description?: string | null;
  readonly version?: number;
  readonly root: Activity;
  readonly inputs?: readonly Declaration[];
  readonly outputs?: readonly Declaration[];
  readonly variables?: readonly Variable[];
  readonly outcomes?: readonly string[];
  readonly labels?: readonly string[];
  readonly options?: JsonObject;
  readonly metadata?: JsonObject;
}

/** Keys of an activity that are not ports. */
export const OWN_KEYS: ReadonlySet<string> = new Set([
  "type",
  "id",
  "name",
  "version",
  "inputs",
  "outputs",
  "variables",
  "connections",
  "options",
  "metadata",
]);

const MARKS = ["id", "inputs", "outputs", "variables", "connections", "options", "metadata"];

export function hasType(value: unknown): value is Activity {
  return isObject(value) && typeof value.type === "string";
}

/**
 * Tells an activity from data with a `type` inside an entry: an activity has a typical key, has children, or has no
 * other key.
 */
export function isActivityInEntry(value: unknown): value is Activity {
  if (!hasType(value)) return false;
  const held = Object.values(value);
  return held.length === 1 || MARKS.some((mark) => mark in value) || held.some(holdsActivities);
}

function holdsActivities(value: unknown): boolean {
  return hasType(value) || (Array.isArray(value) && value.length > 0 && value.every(hasType));
}

/** Location of an activity: the port of its parent. */
export interface Place {
  readonly activity: Activity;
  readonly path: Path;
  readonly parent: string | null;
  readonly port: string;
  /** Index in a list of activities or entries. */
  readonly index: number | null;
  /** Key inside an entry, such as `activity` or `trigger`. */
  readonly key: string | null;
  readonly depth: number;
}

export type Slot =
  | { readonly kind: "one"; readonly port: string; readonly activity: Activity }
  | { readonly kind: "many"; readonly port: string; readonly activities: readonly Activity[] }
  | { readonly kind: "entries"; readonly port: string; readonly entries: readonly JsonObject[] };

/** Ports of an activity that hold something, detected by their shape like in the server's reader. */
export function slotsOf(activity: Activity): Slot[] {
  const slots: Slot[] = [];
  for (const [port, value] of Object.entries(activity)) {
    if (OWN_KEYS.has(port)) continue;
    if (hasType(value)) slots.push({ kind: "one", port, activity: value });
    else if (isList(value) && value.length > 0 && value.every(isObject)) {
      slots.push(
        value.every(hasType) ? { kind: "many", port, activities: value } : { kind: "entries", port, entries: value },
      );
    }
  }
  return slots;
}

export function* walk(definition: Definition): Generator<Place> {
  yield* walkFrom({
    activity: definition.root,
    path: ["root"],
    parent: null,
    port: "root",
    index: null,
    key: null,
    depth: 0,
  });
}

function* walkFrom(place: Place): Generator<Place> {
  yield place;
  for (const child of childrenOf(place)) yield* walkFrom(child);
}

export function* childrenOf(place: Place): Generator<Place> {
  const { activity, path, depth } = place;
  const base = { parent: activity.id, depth: depth + 1, index: null, key: null };
  for (const slot of slotsOf(activity)) {
    const { port } = slot;
    if (slot.kind === "one") yield { ...base, activity: slot.activity, path: [...path, port], port };
    else if (slot.kind === "many") {
      for (const [index, child] of slot.activities.entries()) {
        yield { ...base, activity: child, path: [...path, port, index], port, index };
      }
    } else {
      for (const [index, entry] of slot.entries.entries()) {
        for (const [key, child] of Object.entries(entry)) {
          if (isActivityInEntry(child)) {
            yield { ...base, activity: child, path: [...path, port, index, key], port, index, key };
          }
        }
      }
    }
  }
}

const places = new WeakMap<Definition, ReadonlyMap<string, Place>>();

/** Locations of all activities by id. Cached per document, which is immutable. */
export function placesOf(definition: Definition): ReadonlyMap<string, Place> {
  const known = places.get(definition);
  if (known !== undefined) return known;
  const found = new Map<string, Place>();
  for (const place of walk(definition)) if (!found.has(place.activity.id)) found.set(place.activity.id, place);
  places.set(definition, found);
  return found;
}

export function findActivity(definition: Definition, id: string): Activity | undefined {
  return placesOf(definition).get(id)?.activity;
}

/** Returns the document with the activity replaced. */
export function updateActivity(
  definition: Definition,
  id: string,
  change: (activity: Activity) => Activity,
): Definition {
  const place = placesOf(definition).get(id);
  return place === undefined ? definition : setAt(definition, place.path, change(place.activity));
}

/** Path from the outermost activity to the given one. */
export function ancestry(definition: Definition, id: string): Place[] {
  const all = placesOf(definition);
  const chain: Place[] = [];
  let place = all.get(id);
  while (place !== undefined) {
    chain.unshift(place);
    place = place.parent === null ? undefined : all.get(place.parent);
  }
  return chain;
}

export function titleOf(activity: Activity, displayName?: string | null): string {
  return activity.name || displayName || activity.type;
}

/** Copy without empty values; the server omits them too. */
export function withoutEmpty<T extends JsonObject>(object: T): T {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined && value !== null && !isEmpty(value)),
  ) as T;
}

function isEmpty(value: Json): boolean {
  return isList(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

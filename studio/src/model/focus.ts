/**
 * The part of the document that the canvas shows: a list of activities, a port, or the states of a state machine.
 *
 * A focus names its container by id, so that it survives edits elsewhere. `levelOf` returns the content. A port that
 * holds
 * only a Sequence, Flowchart or StateMachine shows the content of that container directly.
 */

import { type Catalogue, kindOfPort, portTitle } from "./descriptors";
import {
  type Activity,
  ancestry,
  type Connection,
  type Definition,
  hasType,
  isActivityInEntry,
  type Place,
  placesOf,
  slotsOf,
  titleOf,
} from "./document";
import { getAt, isList, isObject, type Json, type JsonObject, type Path } from "./json";

export interface Focus {
  /** Id of the container. Null is the definition itself, whose only port is `root`. */
  readonly id: string | null;
  readonly port: string;
  readonly index?: number;
  readonly key?: string;
}

export const ROOT: Focus = { id: null, port: "root" };

/**
 * - `flowchart`: free positions, connections by outcome
 * - `sequence`: activities in list order
 * - `parallel`: a list without an order
 * - `single`: a port for one activity
 * - `states`: states and transitions
 */
export type LevelKind = "flowchart" | "sequence" | "parallel" | "single" | "states";

export interface Level {
  readonly focus: Focus;
  readonly kind: LevelKind;
  readonly container: Activity | null;
  /** Path of the list, or of the slot for `single`. */
  readonly path: Path;
  readonly activities: readonly Activity[];
  readonly connections: readonly Connection[];
  readonly states: readonly JsonObject[];
  readonly transitions: readonly JsonObject[];
}

const PLAIN: ReadonlySet<string> = new Set(["Flowchart", "Sequence", "StateMachine"]);

export function levelOf(definition: Definition, catalogue: Catalogue, focus: Focus): Level {
  const level = lookAt(definition, catalogue, focus);
  return level ?? lookAt(definition, catalogue, ROOT) ?? emptyLevel(ROOT, ["root"]);
}

function lookAt(definition: Definition, catalogue: Catalogue, focus: Focus): Level | null {
  const container = focus.id === null ? null : (placesOf(definition).get(focus.id) ?? null);
  if (focus.id !== null && container === null) return null;
  const path = pathOf(container, focus);
  if (path === null) return null;
  if (container !== null && isMachine(container.activity) && focus.index === undefined) {
    return machineLevel(container, focus);
  }
  const here = getAt(definition, path);
  if (hasType(here)) {
    return PLAIN.has(here.type)
      ? inside(definition, catalogue, here)
      : { ...emptyLevel(focus, path), activities: [here], container: container?.activity ?? null };
  }
  if (isListPort(catalogue, container?.activity ?? null, focus, here)) {
    return listLevel(container, focus, path, isList(here) ? here.filter(hasType) : []);
  }
  return { ...emptyLevel(focus, path), container: container?.activity ?? null };
}

function inside(definition: Definition, catalogue: Catalogue, activity: Activity): Level | null {
  return lookAt(definition, catalogue, { id: activity.id, port: isMachine(activity) ? "states" : "activities" });
}

function isListPort(catalogue: Catalogue, container: Activity | null, focus: Focus, here: Json | undefined): boolean {
  if (container === null || focus.index !== undefined) return false;
  if (PLAIN.has(container.type)) return true;
  const known = catalogue.get(container.type)?.ports.find((port) => port.name === focus.port);
  return known === undefined ? isList(here) : kindOfPort(known) === "many";
}

function listLevel(container: Place | null, focus: Focus, path: Path, activities: readonly Activity[]): Level {
  const owner = container?.activity ?? null;
  const connections = owner?.connections ?? [];
  const isChart = owner?.type === "Flowchart" || connections.length > 0;
  const kind: LevelKind = isChart ? "flowchart" : owner?.type === "Sequence" ? "sequence" : "parallel";
  return { ...emptyLevel(focus, path), kind, container: owner, activities, connections };
}

function machineLevel(container: Place, focus: Focus): Level {
  const { activity, path } = container;
  return {
    ...emptyLevel({ id: focus.id, port: "states" }, [...path, "states"]),
    kind: "states",
    container: activity,
    states: entriesOf(activity.states),
    transitions: entriesOf(activity.transitions),
  };
}

export function isMachine(activity: Activity): boolean {
  return activity.type === "StateMachine";
}

export function entriesOf(value: Json | undefined): readonly JsonObject[] {
  return isList(value) ? value.filter(isObject) : [];
}

function emptyLevel(focus: Focus, path: Path): Level {
  return {
    focus,
    kind: "single",
    container: null,
    path,
    activities: [],
    connections: [],
    states: [],
    transitions: [],
  };
}

export function pathOf(container: Place | null, focus: Focus): Path | null {
  if (focus.id === null) return ["root"];
  if (container === null) return null;
  const base = [...container.path, focus.port];
  if (focus.index === undefined) return base;
  return focus.key === undefined ? [...base, focus.index] : [...base, focus.index, focus.key];
}

// -- chips: what can be opened from a card -----------------------------------------------------------------------------

export interface Chip {
  readonly focus: Focus;
  readonly title: string;
  /** Number of direct children. */
  readonly count: number;
}

const ENTRY_KEYS: ReadonlyMap<string, readonly string[]> = new Map([
  ["Switch.cases", ["activity"]],
  ["Try.catches", ["activity"]],
]);

export function chipsOf(activity: Activity, catalogue: Catalogue): Chip[] {
  if (isMachine(activity)) {
    const states = entriesOf(activity.states);
    return [{ focus: { id: activity.id, port: "states" }, title: "States", count: states.length }];
  }
  const ports =
    catalogue.get(activity.type)?.ports ?? slotsOf(activity).map(({ port, kind }) => ({ name: port, kind }));
  return ports.flatMap((port) => {
    const value = activity[port.name];
    if (kindOfPort(port) === "entries") return entryChips(activity, port.name, entriesOf(value));
    const count = hasType(value) ? contentCount(value) : isList(value) ? value.length : 0;
    return [{ focus: { id: activity.id, port: port.name }, title: portTitle(port), count }];
  });
}

function entryChips(activity: Activity, port: string, entries: readonly JsonObject[]): Chip[] {
  const fixed = ENTRY_KEYS.get(`${activity.type}.${port}`);
  return entries.flatMap((entry, index) => {
    const held = Object.keys(entry).filter((key) => isActivityInEntry(entry[key]));
    const keys = [...new Set([...(fixed ?? []), ...held])];
    return keys.map((key) => ({
      focus: { id: activity.id, port, index, key },
      title: keys.length > 1 ? `${entryTitle(entry, index)} ${key}` : entryTitle(entry, index),
      count: hasType(entry[key]) ? contentCount(entry[key]) : 0,
    }));
  });
}

function contentCount(activity: Activity): number {
  if (!PLAIN.has(activity.type)) return 1;
  const inner = activity[isMachine(activity) ? "states" : "activities"];
  return isList(inner) ? inner.length : 0;
}

export function entryTitle(entry: JsonObject, index: number): string {
  for (const key of ["label", "name", "errors"]) {
    const value = entry[key];
    if (typeof value === "string" && value) return value;
    if (isList(value) && value.length > 0) return value.join(", ");
  }
  return `${index + 1}`;
}

/** Port that a double click on a card opens: the first non-empty port, or else the first. */
export function defaultPortOf(activity: Activity, catalogue: Catalogue): Focus | null {
  const chips = chipsOf(activity, catalogue);
  return (chips.find((chip) => chip.count > 0) ?? chips[0])?.focus ?? null;
}

// -- breadcrumb --------------------------------------------------------------------------------------------------------

export interface Crumb {
  readonly focus: Focus;
  readonly title: string;
}

export function crumbsOf(definition: Definition, catalogue: Catalogue, level: Level): Crumb[] {
  const crumbs: Crumb[] = [{ focus: ROOT, title: definition.name || definition.id || "Workflow" }];
  const { focus } = level;
  if (focus.id === null) return crumbs;
  const chain = ancestry(definition, focus.id);
  for (const [position, place] of chain.entries()) {
    const next = chain[position + 1];
    const inner = next === undefined ? focus : focusOn(next);
    if (place.depth === 0 && PLAIN.has(place.activity.type) && inner.index === undefined) continue;
    // A container that fills its parent's port has no crumb of its own: the crumb of the port opens it.
    if (PLAIN.has(place.activity.type) && place.index === null && inner.index === undefined) continue;
    crumbs.push({ focus: inner, title: crumbTitle(place.activity, catalogue, inner) });
  }
  return crumbs;
}

function crumbTitle(activity: Activity, catalogue: Catalogue, focus: Focus): string {
  const descriptor = catalogue.get(activity.type);
  const name = titleOf(activity, descriptor?.display_name);
  if (PLAIN.has(activity.type) && focus.index === undefined) return name;
  const port = descriptor?.ports.find((item) => item.name === focus.port);
  if (focus.index !== undefined) {
    const entry = entriesOf(activity[focus.port])[focus.index];
    const key = isMachine(activity) && focus.key ? ` ${focus.key}` : "";
    return `${name} · ${entry ? entryTitle(entry, focus.index) : focus.index + 1}${key}`;
  }
  return `${name} · ${port ? portTitle(port) : focus.port}`;
}

/** The focus that shows this activity. */
export function focusOn(place: Place): Focus {
  if (place.parent === null) return ROOT;
  if (place.key !== null && place.index !== null) {
    return { id: place.parent, port: place.port, index: place.index, key: place.key };
  }
  return { id: place.parent, port: place.port };
}

export function sameFocus(left: Focus, right: Focus): boolean {
  return left.id === right.id && left.port === right.port && left.index === right.index && left.key === right.key;
}

/** Text form for the URL. Null for the top level. */
export function writeFocus(focus: Focus): string | null {
  if (focus.id === null) return null;
  const tail = focus.index === undefined ? [] : [String(focus.index), ...(focus.key === undefined ? [] : [focus.key])];
  return [focus.id, focus.port, ...tail].map(encodeURIComponent).join("/");
}

export function readFocus(text: string | null | undefined): Focus {
  if (!text) return ROOT;
  const [id, port, index, key] = text.split("/").map(decodeURIComponent);
  if (id === undefined || port === undefined) return ROOT;
  const number = Number(index);
  if (index === undefined || !Number.isInteger(number)) return { id, port };
  return key === undefined ? { id, port, index: number } : { id, port, index: number, key };
}

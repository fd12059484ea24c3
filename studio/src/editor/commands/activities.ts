/** Commands on activities: add, remove, rename, set, wrap, reorder, duplicate. */

import { type ActivityDescriptor, type Catalogue, kindOfPort } from "../../model/descriptors";
import { type Activity, type Connection, placesOf, titleOf } from "../../model/document";
import type { Level } from "../../model/focus";
import { notesOf, type Point } from "../../model/graph";
import { Ids } from "../../model/ids";
import { isObject, type Json, type JsonObject, setAt } from "../../model/json";
import { snap } from "../../model/layout";
import { ALLOWED, type Command, type Context, type EditorState, refuse } from "../command";
import { levelIn, mayAdd, mayRemove, mayRename, mayReorder, mayWrap } from "../rules";
import { changeActivity, connection, setActivities, setConnections, setInside, setKey, withDocument } from "./levels";
import { removeNotes } from "./notes";
import { removeStates, removeTransitions } from "./states";

export interface AddOptions {
  readonly type: string;
  readonly at?: Point | undefined;
  /** Connect from this activity. In a sequence: insert after it. */
  readonly after?: { readonly id: string; readonly outcome: string | null } | undefined;
  /** Insert into this connection: the old target follows the new activity. */
  readonly split?: number | undefined;
  /** Index in a sequence. */
  readonly index?: number | undefined;
  readonly inputs?: JsonObject | undefined;
  readonly name?: string | undefined;
  /** Cards that move to make room, with their new positions. */
  readonly room?: ReadonlyMap<string, Point> | undefined;
}

export function addActivity(options: AddOptions): Command {
  return {
    name: "add",
    label: `add ${options.type}`,
    check: (state, context) => mayAdd(levelIn(state, context)),
    do(state, context) {
      const level = levelIn(state, context);
      const activity = newActivity(options, level, state, context);
      const document = setActivities(state.document, level, inserted(level, activity, options));
      const selected = { ...state, document, selection: [activity.id] };
      return level.kind === "flowchart" ? connectNew(selected, level, activity, options, context.catalogue) : selected;
    },
  };
}

function newActivity(options: AddOptions, level: Level, state: EditorState, { catalogue }: Context): Activity {
  const descriptor = catalogue.get(options.type);
  const isStart =
    descriptor?.trigger === true &&
    level.kind === "flowchart" &&
    options.after === undefined &&
    options.split === undefined;
  return {
    type: options.type,
    id: Ids.of(state.document).take(options.type),
    ...(options.name ? { name: options.name } : {}),
    ...(options.inputs && Object.keys(options.inputs).length > 0 ? { inputs: options.inputs } : {}),
    ...emptyLists(descriptor),
    ...(isStart ? { options: { can_start: true } } : {}),
    ...(options.at && level.kind === "flowchart"
      ? { metadata: { position: { x: snap(options.at.x), y: snap(options.at.y) } } }
      : {}),
  };
}

function emptyLists(descriptor: ActivityDescriptor | undefined): JsonObject {
  const lists = (descriptor?.ports ?? []).filter((port) => kindOfPort(port) === "many");
  return Object.fromEntries(lists.map((port) => [port.name, []]));
}

function inserted(level: Level, activity: Activity, options: AddOptions): Activity[] {
  const before = level.activities.map((item) => stepAside(item, options.room?.get(item.id)));
  const after = options.after === undefined ? -1 : before.findIndex((item) => item.id === options.after?.id);
  const index =
    level.kind === "flowchart" ? before.length : (options.index ?? (after >= 0 ? after + 1 : before.length));
  return before.toSpliced(index, 0, activity);
}

function stepAside(activity: Activity, at: Point | undefined): Activity {
  if (at === undefined) return activity;
  const before = activity.metadata?.position;
  const pinned = isObject(before) && before.pinned === true ? { pinned: true } : {};
  return { ...activity, metadata: { ...activity.metadata, position: { x: snap(at.x), y: snap(at.y), ...pinned } } };
}

function connectNew(
  state: EditorState,
  level: Level,
  activity: Activity,
  options: AddOptions,
  catalogue: Catalogue,
): EditorState {
  const chart = level.container;
  if (chart === null) return state;
  let connections: readonly Connection[] = level.connections;
  const split = options.split === undefined ? undefined : connections[options.split];
  if (split !== undefined && options.split !== undefined) {
    const outcome = catalogue.get(activity.type)?.outcomes[0] ?? null;
    connections = connections.toSpliced(
      options.split,
      1,
      { ...split, to: activity.id },
      connection(activity.id, outcome, split.to),
    );
  } else if (options.after !== undefined) {
    connections = [...connections, connection(options.after.id, options.after.outcome, activity.id)];
  }
  return connections === level.connections
    ? state
    : withDocument(state, setConnections(state.document, chart.id, connections));
}

/**
 * Removes cards, notes, states and connections. A removed card with one incoming and one outgoing connection is
 * bridged.
 */
export function removeSelection(): Command {
  return {
    name: "remove",
    label: "remove",
    check: mayRemove,
    do(state, context) {
      const level = levelIn(state, context);
      const chosen = new Set(state.selection);
      if (level.kind === "states") return { ...removeTransitions(removeStates(state, level), level), selection: [] };
      const connections = bridged(
        level.connections.filter((_, index) => !chosen.has(`edge:${index}`)),
        chosen,
      );
      const kept = level.activities.filter((activity) => !chosen.has(activity.id));
      let document =
        kept.length === level.activities.length ? state.document : setActivities(state.document, level, kept);
      if (level.container !== null && level.kind === "flowchart" && connections.length + level.connections.length > 0) {
        document = setConnections(document, level.container.id, connections);
      }
      const notes = notesOf(level.container).some((note) => chosen.has(`note:${note.id}`));
      const next = { ...state, document, selection: [] };
      return notes && level.container !== null ? removeNotes(next, level.container.id, chosen) : next;
    },
  };
}

function bridged(connections: readonly Connection[], gone: ReadonlySet<string>): readonly Connection[] {
  let result = connections;
  for (const id of gone) {
    const into = result.filter((item) => item.to === id && item.from !== id);
    const out = result.filter((item) => item.from === id && item.to !== id);
    const [first] = into;
    const [last] = out;
    const rest = result.filter((item) => item.from !== id && item.to !== id);
    const joins = into.length === 1 && out.length === 1 && first !== undefined && last !== undefined;
    const isKnown =
      joins && rest.some((item) => item.from === first.from && item.to === last.to && item.outcome === first.outcome);
    result = joins && !isKnown && first.from !== last.to ? [...rest, { ...first, to: last.to }] : rest;
  }
  return result;
}

export function renameActivity(id: string, name: string): Command {
  return {
    name: "rename",
    label: "rename",
    merge: `rename ${id}`,
    do: (state) => changeActivity(state, id, (activity) => setKey(activity, "name", name === "" ? undefined : name)),
  };
}

export function changeId(id: string, next: string): Command {
  return {
    name: "change-id",
    label: "change the id",
    check: (state) => mayRename(state, id, next),
    do(state) {
      const place = placesOf(state.document).get(id);
      if (place === undefined || next === id) return state;
      let document = setAt(state.document, [...place.path, "id"], next);
      const parent = place.parent === null ? undefined : placesOf(state.document).get(place.parent);
      if (parent?.activity.connections !== undefined) {
        const renamed = parent.activity.connections.map((item) => ({
          ...item,
          from: item.from === id ? next : item.from,
          to: item.to === id ? next : item.to,
        }));
        document = setAt(document, [...parent.path, "connections"], renamed);
        if (parent.activity.inputs?.start === id) document = setAt(document, [...parent.path, "inputs", "start"], next);
      }
      const focus = state.focus.id === id ? { ...state.focus, id: next } : state.focus;
      return { document, focus, selection: state.selection.map((item) => (item === id ? next : item)) };
    },
  };
}

export function setInput(id: string, name: string, value: Json | undefined): Command {
  return {
    name: "set-input",
    label: `set ${name}`,
    merge: `input ${id} ${name}`,
    do: (state) => changeActivity(state, id, (activity) => setInside(activity, "inputs", name, value)),
  };
}

export function setOutput(id: string, name: string, target: string | null): Command {
  return {
    name: "set-output",
    label: `bind ${name}`,
    do: (state) => changeActivity(state, id, (activity) => setInside(activity, "outputs", name, target || undefined)),
  };
}

export function setOption(id: string, name: string, value: Json | undefined): Command {
  return {
    name: "set-option",
    label: `set ${name}`,
    merge: `option ${id} ${name}`,
    do: (state) => changeActivity(state, id, (activity) => setInside(activity, "options", name, value)),
  };
}

export function setMetadata(id: string, name: string, value: Json | undefined): Command {
  return {
    name: "set-metadata",
    label: `set ${name}`,
    merge: `metadata ${id} ${name}`,
    do: (state) => changeActivity(state, id, (activity) => setInside(activity, "metadata", name, value)),
  };
}

/** Sets a whole port: the cases of a Switch, or the child of a port. */
export function setPort(id: string, port: string, value: Json | undefined): Command {
  return {
    name: "set-port",
    label: `set ${port}`,
    merge: `port ${id} ${port}`,
    do: (state) => changeActivity(state, id, (activity) => setKey(activity, port, value)),
  };
}

export function setVariables(id: string, variables: readonly JsonObject[]): Command {
  return {
    name: "set-variables",
    label: "change variables",
    merge: `variables ${id}`,
    do: (state) =>
      changeActivity(state, id, (activity) =>
        setKey(activity, "variables", variables.length > 0 ? variables : undefined),
      ),
  };
}

/** Moves the selected activities into a new container in their place. */
export function wrap(type: string): Command {
  return {
    name: "wrap",
    label: `wrap in ${type}`,
    check: mayWrap,
    do(state, context) {
      const level = levelIn(state, context);
      const chosen = level.activities.filter((activity) => state.selection.includes(activity.id));
      const first = chosen[0];
      if (first === undefined) return state;
      const container = wrapper(type, chosen, first, state, context.catalogue);
      const activities = level.activities.flatMap((activity) =>
        activity === first ? [container] : chosen.includes(activity) ? [] : [activity],
      );
      let document = setActivities(state.document, level, activities);
      if (level.container !== null && level.kind === "flowchart") {
        const moved = level.connections.map((item) => ({
          ...item,
          from: item.from === first.id ? container.id : item.from,
          to: item.to === first.id ? container.id : item.to,
        }));
        if (moved.length > 0) document = setConnections(document, level.container.id, moved);
      }
      return { ...state, document, selection: [container.id] };
    },
  };
}

function wrapper(
  type: string,
  chosen: readonly Activity[],
  first: Activity,
  state: EditorState,
  catalogue: Catalogue,
): Activity {
  const ids = Ids.of(state.document);
  const port = catalogue.get(type)?.ports.find((item) => kindOfPort(item) !== "entries");
  const metadata = first.metadata?.position === undefined ? undefined : { position: first.metadata.position };
  const bare = chosen.map((activity) => setInside(activity, "metadata", "position", undefined));
  const many = port === undefined || kindOfPort(port) === "many";
  const id = ids.take(type);
  const inner: Json =
    many || bare.length === 1
      ? many
        ? bare
        : (bare[0] as Activity)
      : { type: "Sequence", id: ids.take("Sequence"), activities: bare };
  return { type, id, [port?.name ?? "activities"]: inner, ...(metadata ? { metadata } : {}) };
}

/** Moves an activity to another index. */
export function reorder(id: string, index: number): Command {
  return {
    name: "reorder",
    label: "move",
    check: (state, context) => mayReorder(levelIn(state, context)),
    do(state, context) {
      const level = levelIn(state, context);
      const from = level.activities.findIndex((activity) => activity.id === id);
      const moved = level.activities[from];
      if (moved === undefined || !mayReorder(level).ok) return state;
      const rest = level.activities.toSpliced(from, 1);
      const next = rest.toSpliced(Math.max(0, Math.min(index, rest.length)), 0, moved);
      if (next.every((activity, position) => activity === level.activities[position])) return state;
      return withDocument(state, setActivities(state.document, level, next));
    },
  };
}

/** Changes the type of an activity. Inputs, outputs and ports that the new type also has are kept. */
export function replaceType(id: string, type: string): Command {
  return {
    name: "replace",
    label: `replace by ${type}`,
    check: (state) => (placesOf(state.document).has(id) ? ALLOWED : refuse("The activity no longer exists.")),
    do: (state, { catalogue }) =>
      changeActivity(state, id, (activity) => {
        const descriptor = catalogue.get(type);
        if (descriptor === undefined) return activity;
        const inputs = kept(activity.inputs, descriptor.inputs);
        const outputs = kept(activity.outputs, descriptor.outputs);
        const ports = Object.fromEntries(
          descriptor.ports
            .filter((port) => activity[port.name] !== undefined)
            .map((port) => [port.name, activity[port.name]]),
        );
        const { name, metadata, options } = activity;
        return {
          type,
          id,
          ...(name ? { name } : {}),
          ...(inputs ? { inputs } : {}),
          ...(outputs ? { outputs } : {}),
          ...emptyLists(descriptor),
          ...ports,
          ...(options ? { options } : {}),
          ...(metadata ? { metadata } : {}),
        };
      }),
  };
}

function kept(values: JsonObject | undefined, known: readonly { readonly name: string }[]): JsonObject | undefined {
  const names = new Set(known.map((item) => item.name));
  const same = Object.entries(values ?? {}).filter(([name]) => names.has(name));
  return same.length > 0 ? Object.fromEntries(same) : undefined;
}

export function labelOf(activity: Activity, catalogue: Catalogue): string {
  return titleOf(activity, catalogue.get(activity.type)?.display_name);
}

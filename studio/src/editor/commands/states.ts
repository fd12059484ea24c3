/** Commands on the states and transitions of a state machine. */

import { type Activity, placesOf } from "../../model/document";
import { entriesOf, type Level } from "../../model/focus";
import { type Point, STATE } from "../../model/graph";
import { type Json, type JsonObject, setAt } from "../../model/json";
import { snap } from "../../model/layout";
import { ALLOWED, type Command, type Context, type EditorState, refuse, type Verdict } from "../command";
import { levelIn } from "../rules";
import { setInside, withDocument } from "./levels";

function isMachineHere(state: EditorState, context: Context): Verdict {
  return levelIn(state, context).kind === "states" ? ALLOWED : refuse("This is not a state machine.");
}

function change(state: EditorState, level: Level, edit: (machine: Activity) => Activity): EditorState {
  const place = level.container === null ? undefined : placesOf(state.document).get(level.container.id);
  return place === undefined ? state : withDocument(state, setAt(state.document, place.path, edit(place.activity)));
}

const nameAt = (level: Level, id: string): string | null => {
  const index = Number(id.slice(STATE.length));
  const entry = level.states[index];
  return entry === undefined ? null : String(entry.name ?? index);
};

export function addState(at: Point | null, from: string | null = null): Command {
  return {
    name: "add-state",
    label: "add a state",
    check: isMachineHere,
    do(state, context) {
      const level = levelIn(state, context);
      if (level.kind !== "states") return state;
      const used = new Set(level.states.map((entry) => entry.name));
      let number = level.states.length + 1;
      while (used.has(`State ${number}`)) number += 1;
      const entry: JsonObject = {
        name: `State ${number}`,
        ...(at ? { metadata: { position: { x: snap(at.x), y: snap(at.y) } } } : {}),
      };
      const source = from === null ? null : nameAt(level, from);
      const next = change(state, level, (machine) => ({
        ...machine,
        states: [...level.states, entry],
        ...(source === null
          ? {}
          : { transitions: [...level.transitions, transition(level, source, `State ${number}`)] }),
      }));
      return { ...next, selection: [`${STATE}${level.states.length}`] };
    },
  };
}

export function addTransition(from: string, to: string): Command {
  return {
    name: "connect",
    label: "add a transition",
    check: isMachineHere,
    do(state, context) {
      const level = levelIn(state, context);
      const [source, target] = [nameAt(level, from), nameAt(level, to)];
      if (source === null || target === null) return state;
      return change(state, level, (machine) => ({
        ...machine,
        transitions: [...level.transitions, transition(level, source, target)],
      }));
    },
  };
}

function transition(level: Level, from: string, to: string): JsonObject {
  const used = new Set(level.transitions.map((entry) => entry.name));
  let name = `to ${to}`;
  for (let number = 2; used.has(name); number += 1) name = `to ${to} ${number}`;
  return { name, from, to };
}

/** Renames a state and its transitions. */
export function renameState(index: number, name: string): Command {
  return {
    name: "rename-state",
    label: "rename the state",
    merge: `state ${index}`,
    check(state, context) {
      const level = levelIn(state, context);
      if (name.trim() === "") return refuse("A state needs a name.");
      return level.states.some((entry, at) => at !== index && entry.name === name)
        ? refuse(`“${name}” is already in use.`)
        : ALLOWED;
    },
    do(state, context) {
      const level = levelIn(state, context);
      const before = level.states[index];
      if (before === undefined) return state;
      const old = String(before.name ?? index);
      const taken = new Set(level.transitions.map((entry) => entry.name));
      const ends = (entry: JsonObject): JsonObject => ({
        ...entry,
        // A transition with a generated name is named after its target, also after a rename.
        ...(entry.to === old && entry.name === `to ${old}` && !taken.has(`to ${name}`) ? { name: `to ${name}` } : {}),
        from: entry.from === old ? name : entry.from,
        to: entry.to === old ? name : entry.to,
      });
      return change(state, level, (machine) => {
        const next: Activity = {
          ...machine,
          states: level.states.with(index, { ...before, name }),
          ...(level.transitions.length > 0 ? { transitions: level.transitions.map(ends) } : {}),
        };
        return machine.inputs?.initial === old ? setInside(next, "inputs", "initial", name) : next;
      });
    },
  };
}

export function setTransition(index: number, key: string, value: Json | undefined): Command {
  return {
    name: "set-transition",
    label: `set ${key}`,
    merge: `transition ${index} ${key}`,
    check: isMachineHere,
    do(state, context) {
      const level = levelIn(state, context);
      const before = level.transitions[index];
      if (before === undefined) return state;
      return change(state, level, (machine) => ({
        ...machine,
        transitions: level.transitions.with(index, setAt(before, [key], value)),
      }));
    },
  };
}

export function setInitial(index: number): Command {
  return {
    name: "set-initial",
    label: "set the initial state",
    check: isMachineHere,
    do(state, context) {
      const level = levelIn(state, context);
      const name = nameAt(level, `${STATE}${index}`);
      return name === null ? state : change(state, level, (machine) => setInside(machine, "inputs", "initial", name));
    },
  };
}

/** Removes the selected states and the transitions from and to them. */
export function removeStates(state: EditorState, level: Level): EditorState {
  const gone = new Set(
    state.selection.filter((id) => id.startsWith(STATE)).map((id) => Number(id.slice(STATE.length))),
  );
  if (gone.size === 0) return state;
  const names = new Set([...gone].map((index) => nameAt(level, `${STATE}${index}`)));
  return change(state, level, (machine) => {
    const transitions = entriesOf(machine.transitions).filter(
      (entry) => !names.has(String(entry.from)) && !names.has(String(entry.to)),
    );
    const next: Activity = { ...machine, states: level.states.filter((_, index) => !gone.has(index)), transitions };
    return names.has(String(machine.inputs?.initial)) ? setInside(next, "inputs", "initial", undefined) : next;
  });
}

/** Removes the selected transitions. `before` is the level to which their indexes refer. */
export function removeTransitions(state: EditorState, before: Level): EditorState {
  const gone = new Set(before.transitions.filter((_, index) => state.selection.includes(`edge:${index}`)));
  if (gone.size === 0) return state;
  return change(state, before, (machine) => ({
    ...machine,
    transitions: entriesOf(machine.transitions).filter((entry) => !gone.has(entry)),
  }));
}

/** Preconditions of edits. Each check returns the reason for a refusal, for menus and for rejected connections. */

import { type Catalogue, outcomesOf } from "../model/descriptors";
import { placesOf } from "../model/document";
import { type Level, levelOf } from "../model/focus";
import { STATE } from "../model/graph";
import { ALLOWED, type Context, type EditorState, refuse, type Verdict } from "./command";

export function levelIn(state: EditorState, { catalogue }: Context): Level {
  return levelOf(state.document, catalogue, state.focus);
}

export function mayConnect(
  level: Level,
  catalogue: Catalogue,
  from: string,
  outcome: string | null,
  to: string,
): Verdict {
  if (level.kind === "states")
    return from.startsWith(STATE) && to.startsWith(STATE) ? ALLOWED : refuse("Connect two states.");
  if (level.kind !== "flowchart") return refuse("Only activities of a flowchart can be connected.");
  const source = level.activities.find((activity) => activity.id === from);
  const target = level.activities.find((activity) => activity.id === to);
  if (source === undefined || target === undefined) return refuse("Both activities must be on this canvas.");
  if (target.type === "Start") return refuse("Start cannot have incoming connections.");
  const outcomes = outcomesOf(source, catalogue.get(source.type));
  if (outcomes.length === 0) return refuse("This activity ends the flow and has no outgoing connections.");
  const same = level.connections.some(
    (connection) =>
      connection.from === from && connection.to === to && (connection.outcome ?? "Done") === (outcome ?? "Done"),
  );
  return same ? refuse("These activities are already connected.") : ALLOWED;
}

export function mayAdd(level: Level): Verdict {
  return level.kind === "states" ? refuse("Only states can be added here. Open a state to add activities.") : ALLOWED;
}

export function mayRemove(state: EditorState): Verdict {
  return state.selection.length > 0 ? ALLOWED : refuse("Select something first.");
}

export function mayArrange(state: EditorState, context: Context, least: number): Verdict {
  const level = levelIn(state, context);
  if (level.kind !== "flowchart" && level.kind !== "states")
    return refuse("Positions follow the order of the list here.");
  return state.selection.length >= least ? ALLOWED : refuse(`Select at least ${least} cards.`);
}

export function mayWrap(state: EditorState, context: Context): Verdict {
  const level = levelIn(state, context);
  const chosen = level.activities.filter((activity) => state.selection.includes(activity.id));
  if (chosen.length === 0) return refuse("Select the activities to wrap.");
  if (level.kind !== "flowchart" || chosen.length === 1) return ALLOWED;
  return refuse("In a flowchart, wrap one activity at a time.");
}

export function mayReorder(level: Level): Verdict {
  return level.kind === "sequence" || level.kind === "parallel" ? ALLOWED : refuse("Activities have no order here.");
}

export function mayRename(state: EditorState, id: string, next: string): Verdict {
  if (next.trim() === "") return refuse("An id cannot be empty.");
  if (next === id) return ALLOWED;
  return placesOf(state.document).has(next) ? refuse(`“${next}” is already in use.`) : ALLOWED;
}

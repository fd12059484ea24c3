/** May I? Answers with the reason, for the menus and for a card that refuses a connection. Nothing here changes anything. */

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
  if (level.kind !== "flowchart") return refuse("Only the activities of a flowchart are connected.");
  const source = level.activities.find((activity) => activity.id === from);
  const target = level.activities.find((activity) => activity.id === to);
  if (source === undefined || target === undefined) return refuse("Both ends must stand on this canvas.");
  if (target.type === "Start") return refuse("Nothing leads to Start.");
  const outcomes = outcomesOf(source, catalogue.get(source.type));
  if (outcomes.length === 0) return refuse("Nothing follows this activity: it ends its way.");
  const same = level.connections.some(
    (connection) =>
      connection.from === from && connection.to === to && (connection.outcome ?? "Done") === (outcome ?? "Done"),
  );
  return same ? refuse("They are connected already.") : ALLOWED;
}

export function mayAdd(level: Level): Verdict {
  return level.kind === "states"
    ? refuse("States are added here, not activities. Open a state to add activities.")
    : ALLOWED;
}

export function mayRemove(state: EditorState): Verdict {
  return state.selection.length > 0 ? ALLOWED : refuse("Select something first.");
}

export function mayArrange(state: EditorState, context: Context, least: number): Verdict {
  const level = levelIn(state, context);
  if (level.kind !== "flowchart" && level.kind !== "states")
    return refuse("The order of the list gives the places here.");
  return state.selection.length >= least ? ALLOWED : refuse(`Select at least ${least} cards.`);
}

export function mayWrap(state: EditorState, context: Context): Verdict {
  const level = levelIn(state, context);
  const chosen = level.activities.filter((activity) => state.selection.includes(activity.id));
  if (chosen.length === 0) return refuse("Select the activities to wrap.");
  if (level.kind !== "flowchart" || chosen.length === 1) return ALLOWED;
  return refuse("On a flowchart one activity at a time can be wrapped.");
}

export function mayReorder(level: Level): Verdict {
  return level.kind === "sequence" || level.kind === "parallel" ? ALLOWED : refuse("There is no order here.");
}

export function mayRename(state: EditorState, id: string, next: string): Verdict {
  if (next.trim() === "") return refuse("An id cannot be empty.");
  if (next === id) return ALLOWED;
  return placesOf(state.document).has(next) ? refuse(`“${next}” is taken.`) : ALLOWED;
}

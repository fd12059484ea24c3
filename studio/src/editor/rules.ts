/** May I? Answers with the reason, for the menus and for a card that refuses a connection. Nothing here changes anything. */

import { type Catalogue, outcomesOf } from "../model/descriptors";
import { placesOf } from "../model/document";
import { type Level, levelOf } from "../model/focus";
import { STATE } from "../model/graph";
import { type Context, type EditorState, no, type Verdict, YES } from "./command";

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
  if (level.kind === "states") return from.startsWith(STATE) && to.startsWith(STATE) ? YES : no("Connect two states.");
  if (level.kind !== "flowchart") return no("Only the activities of a flowchart are connected.");
  const source = level.activities.find((activity) => activity.id === from);
  const target = level.activities.find((activity) => activity.id === to);
  if (source === undefined || target === undefined) return no("Both ends must stand on this canvas.");
  if (target.type === "Start") return no("Nothing leads to Start.");
  const outcomes = outcomesOf(source, catalogue.get(source.type));
  if (outcomes.length === 0) return no("Nothing follows this activity: it ends its way.");
  const same = level.connections.some(
    (connection) =>
      connection.from === from && connection.to === to && (connection.outcome ?? "Done") === (outcome ?? "Done"),
  );
  return same ? no("They are connected already.") : YES;
}

export function mayAdd(level: Level): Verdict {
  return level.kind === "states" ? no("States are added here, not activities. Open a state to add activities.") : YES;
}

export function mayRemove(state: EditorState): Verdict {
  return state.selection.length > 0 ? YES : no("Select something first.");
}

export function mayArrange(state: EditorState, context: Context, least: number): Verdict {
  const level = levelIn(state, context);
  if (level.kind !== "flowchart" && level.kind !== "states") return no("The order of the list gives the places here.");
  return state.selection.length >= least ? YES : no(`Select at least ${least} cards.`);
}

export function mayWrap(state: EditorState, context: Context): Verdict {
  const level = levelIn(state, context);
  const chosen = level.activities.filter((activity) => state.selection.includes(activity.id));
  if (chosen.length === 0) return no("Select the activities to wrap.");
  if (level.kind !== "flowchart" || chosen.length === 1) return YES;
  return no("On a flowchart one activity at a time can be wrapped.");
}

export function mayReorder(level: Level): Verdict {
  return level.kind === "sequence" || level.kind === "parallel" ? YES : no("There is no order here.");
}

export function mayRename(state: EditorState, id: string, next: string): Verdict {
  if (next.trim() === "") return no("An id cannot be empty.");
  if (next === id) return YES;
  return placesOf(state.document).has(next) ? no(`“${next}” is taken.`) : YES;
}

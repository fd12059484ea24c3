/** Undo and redo without limit. Patches share structure with the document, so a step costs only what it changed. */

import type { Definition } from "../model/document";
import type { Command, EditorState } from "./command";
import { backward, forward, type Patch, patchesBetween } from "./patches";

interface View {
  readonly focus: EditorState["focus"];
  readonly selection: EditorState["selection"];
}

export interface Edit {
  readonly label: string;
  readonly merge: string | null;
  readonly patches: readonly Patch[];
  readonly before: View;
  readonly after: View;
}

export interface History {
  readonly past: readonly Edit[];
  readonly future: readonly Edit[];
}

export const EMPTY: History = { past: [], future: [] };

/** Returns the same history if the command did not change the document. */
export function record(history: History, command: Command, before: EditorState, after: EditorState): History {
  const patches = patchesBetween(before.document, after.document);
  if (patches.length === 0) return history;
  const edit: Edit = {
    label: command.label,
    merge: command.merge ?? null,
    patches,
    before: view(before),
    after: view(after),
  };
  const last = history.past.at(-1);
  if (last !== undefined && edit.merge !== null && last.merge === edit.merge && history.future.length === 0) {
    const joined = { ...edit, before: last.before, patches: [...last.patches, ...edit.patches] };
    return { past: [...history.past.slice(0, -1), joined], future: [] };
  }
  return { past: [...history.past, edit], future: [] };
}

/** Ends merging: the next edit is a step of its own. */
export function seal(history: History): History {
  const last = history.past.at(-1);
  if (last === undefined || last.merge === null) return history;
  return { ...history, past: [...history.past.slice(0, -1), { ...last, merge: null }] };
}

export function undo(history: History, document: Definition): [History, EditorState] | null {
  const edit = history.past.at(-1);
  if (edit === undefined) return null;
  const next = { past: history.past.slice(0, -1), future: [...history.future, edit] };
  return [next, { document: backward(document, edit.patches), ...edit.before }];
}

export function redo(history: History, document: Definition): [History, EditorState] | null {
  const edit = history.future.at(-1);
  if (edit === undefined) return null;
  const next = { past: [...history.past, edit], future: history.future.slice(0, -1) };
  return [next, { document: forward(document, edit.patches), ...edit.after }];
}

function view({ focus, selection }: EditorState): View {
  return { focus, selection };
}

/** Edit commands. A command has a label, changes the state, and is undone by the patches of that change. */

import type { Catalogue } from "../model/descriptors";
import type { Definition } from "../model/document";
import type { Focus } from "../model/focus";

export interface EditorState {
  readonly document: Definition;
  readonly focus: Focus;
  /** Ids of cards; notes as `note:…`, connections as `edge:…`. */
  readonly selection: readonly string[];
}

export interface Context {
  readonly catalogue: Catalogue;
}

export type Verdict = { readonly ok: true } | { readonly ok: false; readonly why: string };

export const ALLOWED: Verdict = { ok: true };

export function refuse(why: string): Verdict {
  return { ok: false, why };
}

export interface Command {
  /** Stable name for reactions and tests: `add`, `connect`, … */
  readonly name: string;
  /** For the undo menu: “Undo add Delay”. */
  readonly label: string;
  /** Consecutive edits with the same key are one undo step: the letters of a word, the moves of one drag. */
  readonly merge?: string;
  /** Whether the command is allowed. Checked before `do` and by menus. */
  check?(state: EditorState, context: Context): Verdict;
  do(state: EditorState, context: Context): EditorState;
}

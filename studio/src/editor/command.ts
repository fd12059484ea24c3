/** What an edit is: a command with a label that is done, and undone by the patches it left. */

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
  /** Stable, for behaviours and tests: `add`, `connect`, … */
  readonly name: string;
  /** For the undo menu: “Undo add Delay”. */
  readonly label: string;
  /** Edits with the same key in a row are one step of undo: the letters of a word, the moves of one drag. */
  readonly merge?: string;
  /** May I? Asked before `do`, and by the menus. */
  check?(state: EditorState, context: Context): Verdict;
  do(state: EditorState, context: Context): EditorState;
}

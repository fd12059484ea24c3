/** One open document: its state, history and subscribers. Independent of React and of the network. */

import type { Catalogue } from "../model/descriptors";
import type { Definition } from "../model/document";
import { type Focus, ROOT } from "../model/focus";
import { ALLOWED, type Command, type Context, type EditorState, refuse, type Verdict } from "./command";
import { EMPTY, type History, record, redo, seal, undo } from "./history";
import { applyReactions } from "./reactions";

export interface Snapshot extends EditorState {
  readonly history: History;
  readonly catalogue: Catalogue;
  readonly readOnly: boolean;
}

export class EditorSession {
  private snapshot: Snapshot;
  private readonly listeners = new Set<() => void>();

  constructor(document: Definition, catalogue: Catalogue, options: { focus?: Focus; readOnly?: boolean } = {}) {
    const { focus = ROOT, readOnly = false } = options;
    this.snapshot = { document, focus, selection: [], history: EMPTY, catalogue, readOnly };
  }

  readonly get = (): Snapshot => this.snapshot;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private get context(): Context {
    return { catalogue: this.snapshot.catalogue };
  }

  private set(change: Partial<Snapshot>): void {
    this.snapshot = { ...this.snapshot, ...change };
    for (const listener of this.listeners) listener();
  }

  check(command: Command): Verdict {
    if (this.snapshot.readOnly) return refuse("This workflow is read-only.");
    return command.check?.(this.snapshot, this.context) ?? ALLOWED;
  }

  /** Runs the command if it is allowed. Returns the reason if it is not. */
  run(command: Command): Verdict {
    const verdict = this.check(command);
    if (!verdict.ok) return verdict;
    const { document, focus, selection, history } = this.snapshot;
    const before = { document, focus, selection };
    const after = applyReactions(before, command.do(before, this.context), this.context, command);
    this.set({ ...after, history: record(history, command, before, after) });
    return ALLOWED;
  }

  undo(): boolean {
    return this.step(undo);
  }

  redo(): boolean {
    return this.step(redo);
  }

  private step(take: typeof undo): boolean {
    const { history, document, readOnly } = this.snapshot;
    const result = readOnly ? null : take(history, document);
    if (result === null) return false;
    const [next, state] = result;
    this.set({ ...state, history: next });
    return true;
  }

  select(selection: readonly string[]): void {
    const now = this.snapshot.selection;
    if (now.length === selection.length && now.every((id, index) => id === selection[index])) return;
    this.set({ selection, history: seal(this.snapshot.history) });
  }

  /** Shows another level of the document. */
  open(focus: Focus, selection: readonly string[] = []): void {
    this.set({ focus, selection, history: seal(this.snapshot.history) });
  }

  setCatalogue(catalogue: Catalogue): void {
    if (catalogue !== this.snapshot.catalogue) this.set({ catalogue });
  }

  setReadOnly(readOnly: boolean): void {
    if (readOnly !== this.snapshot.readOnly) this.set({ readOnly });
  }

  /** Replaces the document, such as with the server's version after a conflict. Clears the history. */
  load(document: Definition): void {
    this.set({ document, history: EMPTY, selection: [] });
  }
}

/**
 * Autosave without loss: one request at a time, always with the newest document, never an older one after a newer one.
 *
 * Unsaved changes are also stored in the browser (`DraftStore`), so that a sign-in, a crash or a closed tab loses
 * nothing.
 * A save names the version it is based on. If another user has saved since, nothing is overwritten: the state is
 * `conflict`
 * until the author decides.
 */

import type { Definition } from "../model/document";

export type SaveState =
  | { readonly kind: "saved" }
  | { readonly kind: "changed" }
  | { readonly kind: "saving" }
  | { readonly kind: "waiting"; readonly why: string; readonly attempt: number }
  | { readonly kind: "signed-out" }
  | { readonly kind: "conflict" }
  | { readonly kind: "refused"; readonly why: string };

/** Class of an error, as far as the saver needs it. */
export type Failure = "conflict" | "signed-out" | "refused" | "offline";

export interface SaverOptions {
  /** Replaces the version identified by the tag, and returns the new tag. */
  save(document: Definition, etag: string | null): Promise<string | null>;
  /** Classifies an error of `save`. */
  classifyFailure(error: unknown): Failure;
  /** Runs the callback later. Returns a function that cancels it. */
  schedule(milliseconds: number, run: () => void): () => void;
  drafts?: DraftStore;
}

/** Store for documents that are not on the server yet. */
export interface DraftStore {
  put(document: Definition, etag: string | null): void;
  drop(): void;
}

const DEBOUNCE_MS = 800;
const RETRY_MS = [1_000, 2_000, 5_000, 15_000, 30_000];

export class AutoSaver {
  state: SaveState = { kind: "saved" };
  private unsaved: Definition | null = null;
  private current: Promise<void> | null = null;
  private cancelTimer: (() => void) | null = null;
  private attempt = 0;
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly options: SaverOptions,
    private etag: string | null,
    private saved: Definition,
  ) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly get = (): SaveState => this.state;

  get version(): string | null {
    return this.etag;
  }

  get isClean(): boolean {
    return this.unsaved === null && this.current === null;
  }

  private set(state: SaveState): void {
    this.state = state;
    for (const listener of this.listeners) listener();
  }

  /** Takes a new state of the document. A document equal to the saved one creates no draft. */
  change(document: Definition): void {
    if (document === this.saved && this.current === null) {
      this.unsaved = null;
      this.options.drafts?.drop();
      if (this.state.kind === "changed") this.set({ kind: "saved" });
      return;
    }
    this.unsaved = document;
    this.options.drafts?.put(document, this.etag);
    if (this.isBlocked) return;
    if (this.current === null) this.set({ kind: "changed" });
    this.schedule(DEBOUNCE_MS);
  }

  /** In these states only the author or a new sign-in continues. */
  private get isBlocked(): boolean {
    return this.state.kind === "conflict" || this.state.kind === "signed-out";
  }

  private schedule(milliseconds: number): void {
    this.cancelTimer?.();
    this.cancelTimer = this.options.schedule(milliseconds, () => void this.flush());
  }

  /** Saves pending changes now. Returns whether everything is saved. */
  async flush(): Promise<boolean> {
    this.cancelTimer?.();
    this.cancelTimer = null;
    while (this.current !== null) await this.current;
    if (this.unsaved === null) return true;
    if (this.isBlocked) return false;
    this.current = this.write(this.unsaved);
    await this.current;
    return this.unsaved === null ? this.state.kind === "saved" : this.isPending ? this.flush() : false;
  }

  private get isPending(): boolean {
    return this.state.kind === "changed" || this.state.kind === "saving";
  }

  private async write(document: Definition): Promise<void> {
    this.set({ kind: "saving" });
    try {
      this.etag = await this.options.save(document, this.etag);
      this.saved = document;
      this.attempt = 0;
      this.current = null;
      if (this.unsaved === document) {
        this.unsaved = null;
        this.options.drafts?.drop();
        this.set({ kind: "saved" });
      } else {
        // Later edits are based on the version just saved.
        if (this.unsaved !== null) this.options.drafts?.put(this.unsaved, this.etag);
        this.set({ kind: "changed" });
      }
    } catch (error) {
      this.current = null;
      this.fail(error);
    }
  }

  private fail(error: unknown): void {
    const failure = this.options.classifyFailure(error);
    const why = error instanceof Error ? error.message : String(error);
    if (failure === "conflict" || failure === "signed-out") this.set({ kind: failure });
    else if (failure === "refused") this.set({ kind: "refused", why });
    else {
      this.attempt += 1;
      this.set({ kind: "waiting", why, attempt: this.attempt });
      this.schedule(RETRY_MS[Math.min(this.attempt, RETRY_MS.length) - 1] ?? 30_000);
    }
  }

  /** Continues after a new sign-in. */
  resume(): Promise<boolean> {
    if (this.state.kind === "signed-out" || this.state.kind === "waiting") this.set({ kind: "changed" });
    return this.flush();
  }

  /** Continues with a draft from the browser. The draft is based on this version, even if newer versions exist. */
  rebase(etag: string | null): void {
    this.etag = etag;
  }

  /** Overwrites the version of the other user. `etag` is the version that the author has seen. */
  overwrite(etag: string | null): Promise<boolean> {
    this.etag = etag;
    this.set({ kind: "changed" });
    return this.flush();
  }

  /** Accepts the version on the server and drops unsaved changes. */
  take(document: Definition, etag: string | null): void {
    this.cancelTimer?.();
    this.unsaved = null;
    this.etag = etag;
    this.saved = document;
    this.options.drafts?.drop();
    this.set({ kind: "saved" });
  }

  close(): void {
    this.cancelTimer?.();
    this.listeners.clear();
  }
}

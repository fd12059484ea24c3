/** Unsaved documents, stored in this browser until they are on the server. */

import type { DraftStore } from "../editor/autosave";
import type { Definition } from "../model/document";

const PREFIX = "holdfast.unsaved.";

export interface LocalDraft {
  readonly document: Definition;
  readonly etag: string | null;
  readonly at: string;
}

export function localDraftStore(id: string): DraftStore {
  return {
    put(document, etag) {
      try {
        localStorage.setItem(PREFIX + id, JSON.stringify({ document, etag, at: new Date().toISOString() }));
      } catch {
        // The browser storage is full or disabled. Saving to the server still works.
      }
    },
    drop: () => localStorage.removeItem(PREFIX + id),
  };
}

export function readLocalDraft(id: string): LocalDraft | null {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + id) ?? "null") as LocalDraft | null;
  } catch {
    return null;
  }
}

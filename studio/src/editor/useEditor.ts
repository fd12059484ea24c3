/** React binding of the open document. */

import { createContext, useContext, useRef, useSyncExternalStore } from "react";
import type { EditorSession, Snapshot } from "./session";

export const SessionContext = createContext<EditorSession | null>(null);

export function useEditorSession(): EditorSession {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("There is no open document around this component.");
  return session;
}

/** Selects a part of the state. The component renders again only when that part changes. */
export function useEditor<T>(select: (snapshot: Snapshot) => T, same: (left: T, right: T) => boolean = Object.is): T {
  const session = useEditorSession();
  const last = useRef<{ value: T } | null>(null);
  const read = (): T => {
    const value = select(session.get());
    if (last.current !== null && same(last.current.value, value)) return last.current.value;
    last.current = { value };
    return value;
  };
  return useSyncExternalStore(session.subscribe, read);
}

/** Shortcuts when no element has the focus, because the focused element was removed. */

import { useEffect, useRef } from "react";

export function useUnfocusedKeys(press: (event: KeyboardEvent) => void): void {
  const latest = useRef(press);
  latest.current = press;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.target === document.body && document.querySelector("dialog[open]") === null) latest.current(event);
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}

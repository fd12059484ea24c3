/** Keys that nobody has: what had the keyboard may be gone (removed, undone, left for another level). */

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

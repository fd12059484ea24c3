/** Keys that nobody has: what had the keyboard may be gone (removed, undone, left for another level). */

import { useEffect, useRef } from "react";

export function useLostKeys(press: (event: KeyboardEvent) => void): void {
  const latest = useRef(press);
  latest.current = press;
  useEffect(() => {
    const heard = (event: KeyboardEvent): void => {
      if (event.target === document.body && document.querySelector("dialog[open]") === null) latest.current(event);
    };
    document.addEventListener("keydown", heard);
    return () => document.removeEventListener("keydown", heard);
  }, []);
}

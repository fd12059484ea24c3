import { useCallback, useState } from "react";

/** Cursor pagination of a list. Cursors of earlier pages are remembered, so that Back works. */
export function usePaging(): {
  cursor: string | undefined;
  page: number;
  next: (cursor: string) => void;
  back: () => void;
  first: () => void;
} {
  const [before, setBefore] = useState<(string | undefined)[]>([]);
  const [cursor, setCursor] = useState<string>();
  return {
    cursor,
    page: before.length,
    next: (to) => {
      setBefore([...before, cursor]);
      setCursor(to);
    },
    back: () => {
      setCursor(before.at(-1));
      setBefore(before.slice(0, -1));
    },
    first: useCallback(() => {
      setBefore([]);
      setCursor(undefined);
    }, []),
  };
}

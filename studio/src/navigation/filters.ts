import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useState } from "react";
import type { Search } from "../app/router";

/** The filters of a page, kept in its address. `set` changes some of them; an empty one leaves the address. */
export function useFilters(): [Search, (changed: Search) => void] {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const set = useCallback(
    (changed: Search) =>
      void navigate({
        to: ".",
        replace: true,
        search: (before: Search) =>
          Object.fromEntries(
            Object.entries({ ...before, ...changed }).filter(([, value]) => value !== undefined && value !== ""),
          ),
      } as never),
    [navigate],
  );
  return [search, set];
}

/** A value that lags behind typing, so that not every letter asks the server. */
export function useSettled<T>(value: T, ms = 200): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** Pages of a list by cursor: how to go on, and how to go back. */
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

/** Filters of a page, stored in the query string of its URL: a link shares them, and Back restores them. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";

export type Search = Record<string, string | undefined>;

export const readSearch = (given: Record<string, unknown>): Search =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, value === undefined ? undefined : String(value)]),
  );

/** Returns the filters and a function that changes some of them. An empty value removes the filter from the URL. */
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

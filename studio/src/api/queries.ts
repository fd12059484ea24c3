/** Queries of the server. Keys of one resource share a prefix, so that one call invalidates all of them. */
import { keepPreviousData, QueryClient, queryOptions } from "@tanstack/react-query";
import { api, type Query } from "./client";
import { ApiError } from "./errors";
import type * as T from "./types";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // Without a network a query fails with an error. Waiting for the network would show a page that never loads.
      networkMode: "always",
      refetchOnReconnect: true,
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
  },
});

const path = (...parts: string[]): string => `/api/${parts.map(encodeURIComponent).join("/")}`;

/** A list under `/api/name`. The previous page stays visible until the next one is loaded. */
export const list = <Item>(name: string, query: Query = {}) =>
  queryOptions({
    queryKey: [name, "list", query],
    queryFn: ({ signal }) => api.get<T.Page<Item>>(`/api/${name}`, query, signal),
    placeholderData: keepPreviousData,
  });

export const definitions = {
  list: (query: Query) => list<T.DefinitionSummary>("definitions", query),
  /** All definitions for selection fields, by name. */
  known: () => ({ ...list<T.DefinitionSummary>("definitions", { limit: 500, sort: "name" }), staleTime: 30_000 }),
  one: (id: string, version: string | number = "latest") =>
    queryOptions({
      queryKey: ["definitions", "one", id, version],
      queryFn: ({ signal }) => api.get<T.DefinitionDetail>(path("definitions", id), { version }, signal),
    }),
  versions: (id: string) =>
    queryOptions({
      queryKey: ["definitions", "versions", id],
      queryFn: ({ signal }) => api.get<T.Page<T.DefinitionSummary>>(path("definitions", id, "versions"), {}, signal),
    }),
  diff: (id: string, from: number, to: number) =>
    queryOptions({
      queryKey: ["definitions", "diff", id, from, to],
      queryFn: ({ signal }) => api.get<T.DefinitionDiff>(path("definitions", id, "diff"), { from, to }, signal),
    }),
};

export const instances = {
  list: (query: Query) => list<T.InstanceItem>("instances", query),
  counts: (query: Query = {}) =>
    queryOptions({
      queryKey: ["instances", "counts", query],
      queryFn: ({ signal }) => api.get<T.InstanceCounts>("/api/instances/counts", query, signal),
    }),
  one: (id: string) =>
    queryOptions({
      queryKey: ["instances", "one", id],
      queryFn: ({ signal }) => api.get<T.InstanceDetail>(path("instances", id), {}, signal),
    }),
  journal: (id: string) =>
    queryOptions({ queryKey: ["instances", "journal", id], queryFn: ({ signal }) => wholeJournal(id, signal) }),
  executions: (id: string) =>
    queryOptions({
      queryKey: ["instances", "executions", id],
      queryFn: ({ signal }) => api.get<T.ExecutionList>(path("instances", id, "executions"), {}, signal),
    }),
  incidents: (id: string) =>
    queryOptions({
      queryKey: ["instances", "incidents", id],
      queryFn: async ({ signal }) => {
        const response = await api.get<T.Page<T.Incident> | T.Incident[]>(
          path("instances", id, "incidents"),
          {},
          signal,
        );
        return Array.isArray(response) ? response : response.items;
      },
    }),
  moments: (id: string) =>
    queryOptions({
      queryKey: ["instances", "moments", id],
      queryFn: ({ signal }) => api.get<T.MomentList>(path("instances", id, "moments"), {}, signal),
    }),
  moment: (id: string, version: number) =>
    queryOptions({
      queryKey: ["instances", "moment", id, version],
      queryFn: ({ signal }) => api.get<T.MomentDetail>(path("instances", id, "moments", String(version)), {}, signal),
      // Committed states are immutable.
      staleTime: Number.POSITIVE_INFINITY,
    }),
  children: (id: string) =>
    queryOptions({
      queryKey: ["instances", "children", id],
      queryFn: ({ signal }) => api.get<T.Page<T.InstanceItem>>(path("instances", id, "children"), {}, signal),
    }),
};

const MAX_JOURNAL_ENTRIES = 5_000;

async function wholeJournal(id: string, signal: AbortSignal): Promise<T.JournalEntry[]> {
  const entries: T.JournalEntry[] = [];
  let after: number | null = 0;
  let skip = 0;
  while (after !== null && entries.length < MAX_JOURNAL_ENTRIES) {
    const page: T.JournalPage = await api.get<T.JournalPage>(
      path("instances", id, "journal"),
      { after, skip, limit: 500 },
      signal,
    );
    entries.push(...page.entries);
    after = page.next;
    skip = page.skip ?? 0;
  }
  return entries;
}

export const tasks = {
  list: (query: Query) => list<T.Task>("tasks", query),
};

export const statistics = (range: string) =>
  queryOptions({
    queryKey: ["statistics", range],
    queryFn: ({ signal }) => api.get<T.Statistics>("/api/statistics", { range }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });

export { path as apiPath };

/** Refetches all queries of these resources after a write. */
export const invalidate = (...names: string[]): Promise<unknown> =>
  Promise.all(names.map((name) => queryClient.invalidateQueries({ queryKey: [name] })));

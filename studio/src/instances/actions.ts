import { api } from "../api/client";
import { apiPath, invalidate } from "../api/queries";
import type { ImportedInstance, InstancesBulkResult } from "../api/types";
import { toast } from "../ui";
import { t as words } from "./instanceMessages";
import { t } from "./messages";

export type BulkAction = "cancel" | "retry" | "delete";

/** Action on an incident: a failed activity is retried or skipped; a lost effect is held until an operator decides. */
export type Remedy = "retry" | "recover" | "skip";

export const isHeld = (incident: { type: string; open: boolean }): boolean => incident.open && incident.type === "lost";

/** Instances by id, or all matches of a filter at execution time. `count` is the current number of matches. */
export type Chosen = { ids: readonly string[] } | { filter: Record<string, unknown>; count: number };

export const countOf = (chosen: Chosen): number => ("ids" in chosen ? chosen.ids.length : chosen.count);

/** Converts the filters of the list into the body of a bulk request. Unset filters are omitted. */
export function filterOf(
  filters: Record<string, string | boolean | undefined>,
  status: readonly string[],
): Record<string, unknown> {
  const lists = new Set(["definition_id", "correlation_id"]);
  const set = Object.entries(filters).filter(([, value]) => value !== undefined && value !== "");
  return {
    ...Object.fromEntries(set.map(([name, value]) => [name, lists.has(name) ? [value] : value])),
    ...(status.length > 0 ? { status } : {}),
  };
}

export async function bulk(action: BulkAction, chosen: Chosen, why: string, terminate: boolean): Promise<void> {
  const result = await api.post<InstancesBulkResult>("/api/instances/bulk", {
    action,
    ...("ids" in chosen ? { ids: chosen.ids } : { filter: chosen.filter }),
    ...(why ? { why } : {}),
    ...(action === "cancel" ? { terminate } : {}),
  });
  if (result.failed.length === 0 || result.changed > 0) toast.done(t("done", { n: result.changed }));
  const first = result.failed[0];
  if (first) toast.failed(new Error(t("failed", { n: result.failed.length, why: first.message })));
  await invalidate("instances", "statistics");
}

/** Forks an instance, from a recorded state or from the current one. */
export async function fork(id: string, version?: number): Promise<string> {
  const made = await api.post<ImportedInstance>(
    apiPath("instances", id, "fork"),
    version === undefined ? {} : { version },
  );
  await invalidate("instances");
  toast.done(words("forked", { id: made.id }));
  return made.id;
}

/** Runs an action on one instance and refetches all instance queries. */
export async function act(id: string, verb: string, body: unknown = {}): Promise<void> {
  await api.post(apiPath("instances", id, verb), body);
  await invalidate("instances", "tasks", "statistics");
}

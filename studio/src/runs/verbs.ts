import { api } from "../api/client";
import { apiPath, forget } from "../api/queries";
import type { ImportedInstance, InstancesBulkResult } from "../api/types";
import { toast } from "../ui";
import { t as words } from "./instance-words";
import { t } from "./words";

export type BulkAction = "cancel" | "retry" | "delete";

export async function bulk(action: BulkAction, ids: readonly string[], why: string, terminate: boolean): Promise<void> {
  const result = await api.post<InstancesBulkResult>("/api/instances/bulk", {
    action,
    ids,
    ...(why ? { why } : {}),
    ...(action === "cancel" ? { terminate } : {}),
  });
  if (result.failed.length === 0 || result.changed > 0) toast.done(t("done", { n: result.changed }));
  const first = result.failed[0];
  if (first) toast.failed(new Error(t("failed", { n: result.failed.length, why: first.message })));
  await forget("instances", "statistics");
}

/** A copy that goes on by itself: from a state that is kept, or from what it is now. */
export async function fork(id: string, version?: number): Promise<string> {
  const made = await api.post<ImportedInstance>(apiPath("instances", id, "fork"), version === undefined ? {} : { version });
  await forget("instances");
  toast.done(words("forked", { id: made.id }));
  return made.id;
}

/** One verb on one instance; everything about instances is asked again. */
export async function act(id: string, verb: string, body: unknown = {}): Promise<void> {
  await api.post(apiPath("instances", id, verb), body);
  await forget("instances", "tasks", "statistics");
}

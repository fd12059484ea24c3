/** API calls of the designer. */

import { api, request } from "../api/client";
import { ApiError } from "../api/errors";
import { apiPath, invalidate, queryClient } from "../api/queries";
import type { DefinitionDetail, DefinitionSummary, InstanceCounts, PublishResult } from "../api/types";
import type { Failure } from "../editor/autosave";
import type { Definition } from "../model/document";
import type { ServerProblem } from "../model/problems";

export interface Saved {
  readonly summary: DefinitionSummary;
  readonly etag: string | null;
}

/** Saves the draft. Fails with 412 if another user has saved since. */
export async function saveDefinition(document: Definition, etag: string | null): Promise<Saved> {
  const response = await request("PUT", apiPath("definitions", document.id), {
    body: document,
    headers: etag ? { "If-Match": etag } : {},
  });
  const detail = (await response.json()) as DefinitionDetail;
  queryClient.setQueryData(["definitions", "one", document.id, "latest"], detail);
  void queryClient.invalidateQueries({ queryKey: ["definitions", "list"] });
  void queryClient.invalidateQueries({ queryKey: ["definitions", "versions", document.id] });
  return { summary: detail.summary, etag: detail.etag ?? response.headers.get("ETag") };
}

export function classifyFailure(error: unknown): Failure {
  if (!(error instanceof ApiError)) return "offline";
  if (error.status === 412) return "conflict";
  if (error.status === 401) return "signed-out";
  return error.status >= 400 && error.status < 500 && error.status !== 408 && error.status !== 429
    ? "refused"
    : "offline";
}

export async function validateOnServer(document: Definition, signal: AbortSignal): Promise<readonly ServerProblem[]> {
  const response = await api.post<{ problems: ServerProblem[] }>("/api/definitions/validate", document, { signal });
  return response.problems;
}

export async function publish(id: string): Promise<PublishResult> {
  const result = await api.post<PublishResult>(apiPath("definitions", id, "publish"));
  await invalidate("definitions", "triggers", "schedules");
  return result;
}

export async function liveInstances(id: string): Promise<number> {
  const { by_status: counts } = await api.get<InstanceCounts>("/api/instances/counts", { definition_id: id });
  return ["pending", "running", "suspended", "canceling"].reduce((sum, status) => sum + (counts[status] ?? 0), 0);
}

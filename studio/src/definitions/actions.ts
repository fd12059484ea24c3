/** Actions on definitions, with their toasts. Each action invalidates the affected queries. */
import { api, download, request } from "../api/client";
import { apiPath, invalidate } from "../api/queries";
import type { BulkResult, DefinitionSummary, ImportedFile, PublishResult } from "../api/types";
import { toast } from "../ui";
import { t } from "./messages";

export async function publish(definition: Pick<DefinitionSummary, "id" | "name">): Promise<void> {
  const result = await api.post<PublishResult>(apiPath("definitions", definition.id, "publish"));
  const text = t("published1", {
    name: result.summary.name,
    version: result.summary.version,
    triggers: result.triggers,
  });
  toast.done(result.live_instances ? `${text} ${t("live", { n: result.live_instances })}` : text);
  await invalidate("definitions", "triggers", "schedules");
}

export async function bulk(
  action: "publish" | "retract" | "delete" | "label",
  ids: readonly string[],
  more: object = {},
): Promise<void> {
  const result = await api.post<BulkResult>("/api/definitions/bulk", { action, ids, ...more });
  if (result.done.length > 0) toast.done(t("done", { n: result.done.length }));
  const first = result.failed[0];
  if (first) toast.failed(new Error(t("failed", { n: result.failed.length, why: first.message })));
  await invalidate("definitions", "triggers", "schedules");
}

export async function exportAll(ids: readonly string[]): Promise<void> {
  const [only] = ids;
  if (only && ids.length === 1) {
    const { document } = await api.get<{ document: unknown }>(apiPath("definitions", only), { version: "latest" });
    download(`${only}.json`, JSON.stringify(document, null, 2));
    return;
  }
  const response = await request("POST", "/api/definitions/export", { body: { ids } });
  download("definitions.zip", await response.blob());
}

/** Exports the workflow as a Python program. */
export async function exportPython(id: string): Promise<void> {
  const response = await request("GET", apiPath("definitions", id, "export"), {
    query: { format: "python", version: "latest" },
    headers: { Accept: "text/x-python, application/problem+json" },
  });
  download(`${id}.py`, await response.text(), "text/x-python");
}

export async function importFiles(files: Iterable<File>): Promise<ImportedFile[]> {
  const form = new FormData();
  for (const file of files) form.append("files", file, file.name);
  const result = await api.upload<{ files: ImportedFile[] }>("/api/definitions/import", form);
  await invalidate("definitions");
  return result.files;
}

export const slugOf = (name: string): string =>
  name
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");

/** The Python source of a workflow that is written in code, with the line of the selected activity marked. */

import { useQuery } from "@tanstack/react-query";
import { api } from "../api/client";
import { apiPath } from "../api/queries";
import { catalogue } from "../app/messages";
import { CodeEditor } from "../inspector/CodeEditor";
import { findActivity, type Definition } from "../model/document";
import { Failed, Loading } from "../ui";

const t = catalogue("python", { label: "Python source" });

export interface PythonSource {
  readonly text: string;
  readonly file?: string | null;
  /** The line of the file that the text begins with. */
  readonly first_line?: number;
}

export function PythonView({ document, selected, line }: { document: Definition; selected: string | null; line?: number | null }) {
  const query = useQuery({
    queryKey: ["definitions", "source", document.id, document.version ?? 0],
    queryFn: ({ signal }) => api.get<PythonSource>(apiPath("definitions", document.id, "source"), {}, signal),
    retry: false,
  });
  if (query.isPending) return <Loading />;
  if (query.isError) return <Failed error={query.error} retry={() => void query.refetch()} />;
  const at = line ?? lineOf(document, selected);
  const marked = at === null ? null : at - (query.data.first_line ?? 1) + 1;
  return (
    <div className="hf-source hf-python">
      {query.data.file ? <p className="hf-source-bar faint small mono">{query.data.file}</p> : null}
      <CodeEditor tall readOnly language="python" label={t("label")} value={query.data.text} line={marked} onChange={() => undefined} />
    </div>
  );
}

export function lineOf(document: Definition, activityId: string | null): number | null {
  const line = activityId === null ? undefined : findActivity(document, activityId)?.metadata?.["line"];
  return typeof line === "number" ? line : null;
}

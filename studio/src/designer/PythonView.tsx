/** Python source of a workflow defined in code. The line of the selected activity is highlighted. */

import { defineMessages } from "../i18n/messages";
import { CodeEditor } from "../inspector/CodeEditor";
import { type Definition, findActivity } from "../model/document";
import { isObject } from "../model/json";
import { Empty } from "../ui";

const t = defineMessages("python", {
  label: "Python source",
  none: "Source not available",
  noneText: "This workflow was published without its source text. It is defined in {file}.",
  unknown: "a Python module",
});

export interface PythonSource {
  readonly text: string;
  readonly file: string | null;
  /** Line of the file at which the text starts. */
  readonly line: number;
}

/** The compiler stores the source text in the metadata of the document. */
export function sourceOf(document: Definition): PythonSource | null {
  const source = document.metadata?.source;
  const file = document.metadata?.file ?? document.root.metadata?.file;
  const named = typeof file === "string" ? file : null;
  if (typeof source === "string") return { text: source, file: named, line: 1 };
  if (!isObject(source) || typeof source.text !== "string") return null;
  return { text: source.text, file: named, line: typeof source.line === "number" ? source.line : 1 };
}

export function PythonView({ document, selected }: { document: Definition; selected: string | null }) {
  const source = sourceOf(document);
  if (source === null) {
    const file = document.root.metadata?.file;
    return (
      <div className="hf-source">
        <Empty icon="code" title={t("none")}>
          {t("noneText", { file: typeof file === "string" ? file : t("unknown") })}
        </Empty>
      </div>
    );
  }
  const at = lineOf(document, selected);
  return (
    <div className="hf-source hf-python">
      {source.file ? <p className="hf-source-bar faint small mono">{source.file}</p> : null}
      <CodeEditor
        tall
        readOnly
        language="python"
        label={t("label")}
        value={source.text}
        line={at === null ? null : at - source.line + 1}
        onChange={() => undefined}
      />
    </div>
  );
}

export function lineOf(document: Definition, activityId: string | null): number | null {
  const line = activityId === null ? undefined : findActivity(document, activityId)?.metadata?.line;
  return typeof line === "number" ? line : null;
}

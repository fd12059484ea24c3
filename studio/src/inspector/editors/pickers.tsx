/** Editors that select a variable, an output, a workflow or a schedule. */

import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client";
import { definitions } from "../../api/queries";
import { defineMessages } from "../../i18n/messages";
import { Timestamp } from "../../ui";
import { useDebounced } from "../../ui/useDebounced";
import type { EditorProps } from "../editorHints";
import { findWorkflow, OpenWorkflow } from "../WorkflowLinks";
import { asText } from "./compound";

const t = defineMessages("pickers", {
  choose: "Choose …",
  noVariables: "No variables declared. Clear the selection on the canvas to add one in the workflow panel.",
  missing: "{name} (not declared)",
  next: "Next occurrences",
  cronHint: "Minute hour day month weekday, such as 0 8 * * 1-5",
  badCron: "Invalid cron expression: {why}",
});

export function VariableEditor({ id, value, onChange, names, readOnly, invalid }: EditorProps) {
  const variables = names.filter((name) => name.kind === "variable" || name.kind === "loop" || name.kind === "output");
  return (
    <NameSelect
      id={id}
      value={value}
      onChange={onChange}
      readOnly={readOnly}
      invalid={invalid}
      options={variables.map((name) => name.name)}
    />
  );
}

export function OutputNameEditor({ id, value, onChange, names, readOnly, invalid }: EditorProps) {
  return (
    <NameSelect
      id={id}
      value={value}
      onChange={onChange}
      readOnly={readOnly}
      invalid={invalid}
      options={names.filter((name) => name.kind === "output").map((name) => name.name)}
    />
  );
}

type SelectProps = Pick<EditorProps, "id" | "value" | "onChange" | "readOnly" | "invalid"> & {
  options: readonly string[];
};

export function NameSelect({ id, value, onChange, readOnly, invalid, options }: SelectProps) {
  const now = asText(value);
  return (
    <>
      <select
        id={id}
        className="select"
        value={now}
        disabled={readOnly}
        aria-invalid={invalid || undefined}
        onChange={(event) => onChange(event.target.value || undefined)}
      >
        <option value="">{t("choose")}</option>
        {now !== "" && !options.includes(now) ? <option value={now}>{t("missing", { name: now })}</option> : null}
        {options.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      {options.length === 0 ? <p className="hint faint small">{t("noVariables")}</p> : null}
    </>
  );
}

export function WorkflowEditor({ id, value, onChange, readOnly, invalid }: EditorProps) {
  const items = useQuery(definitions.known()).data?.items ?? [];
  const now = asText(value);
  const chosen = findWorkflow(items, now);
  return (
    <div className="row">
      <select
        id={id}
        className="select"
        value={chosen?.id ?? now}
        disabled={readOnly}
        aria-invalid={invalid || undefined}
        onChange={(event) => onChange(event.target.value || undefined)}
      >
        <option value="">{t("choose")}</option>
        {now !== "" && chosen === undefined ? <option value={now}>{now}</option> : null}
        {items.map((item) => (
          <option key={item.id} value={item.id}>
            {item.name || item.id}
          </option>
        ))}
      </select>
      {chosen ? <OpenWorkflow workflow={chosen} /> : null}
    </div>
  );
}

export function CronEditor({ id, value, onChange, readOnly, invalid, placeholder }: EditorProps) {
  const cron = asText(value);
  const settled = useDebounced(cron, 300);
  const query = useQuery({
    queryKey: ["schedules", "preview", settled],
    queryFn: ({ signal }) =>
      api.get<{ times: string[] }>("/api/schedules/preview", { cron: settled, count: 3 }, signal),
    enabled: settled.trim() !== "",
    retry: false,
  });
  return (
    <div className="stack">
      <input
        id={id}
        className="input mono"
        value={cron}
        placeholder={placeholder || "0 8 * * 1-5"}
        readOnly={readOnly}
        aria-invalid={invalid || query.isError || undefined}
        onChange={(event) => onChange(event.target.value || undefined)}
      />
      {query.isError ? <p className="problem small">{t("badCron", { why: query.error.message })}</p> : null}
      {query.data !== undefined && settled.trim() !== "" && !query.isError ? (
        <ul className="hf-times small quiet" aria-label={t("next")}>
          {query.data.times.map((time) => (
            <li key={time}>
              <Timestamp at={time} as="moment" /> <Timestamp at={time} className="faint" />
            </li>
          ))}
        </ul>
      ) : (
        <p className="hint faint small">{t("cronHint")}</p>
      )}
    </div>
  );
}

/** Inputs of a workflow started by an activity: one field per declared input. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { definitions } from "../api/queries";
import { inputSchema } from "../definitions/inputs";
import { defineMessages } from "../i18n/messages";
import type { InputDescriptor } from "../model/descriptors";
import { LITERAL, readInput } from "../model/expressions";
import { equal, type Json, type JsonObject } from "../model/json";
import type { Problem } from "../model/validate";
import { readWorkflowInput, type WorkflowInput, writeWorkflowInput } from "../model/workflowInput";
import { IconButton } from "../ui";
import { hintOfSchema } from "./editorHints";
import { InputEditor, type InputEditorProps } from "./InputEditor";
import { findWorkflow } from "./WorkflowLinks";

const t = defineMessages("workflow-input", {
  title: "Inputs of {name}",
  asOne: "Edit as one expression",
  asFields: "Edit as fields",
  none: "{name} declares no inputs.",
  undeclared: "{name} does not declare this input.",
  remove: "Remove {name}",
  missing: "Required by {name}.",
});

/** Languages that can be combined in one Python dict. */
const LANGUAGES = [LITERAL, "python", "variable", "input"];

const STARTERS: ReadonlySet<string> = new Set(["ExecuteWorkflow", "DispatchWorkflow", "BulkDispatchWorkflows"]);

export const isWorkflowInput = (type: string, input: string): boolean => input === "input" && STARTERS.has(type);

export function WorkflowInputEditor(props: InputEditorProps) {
  const { language, source } = readInput(props.workflow);
  const items = useQuery(definitions.known()).data?.items ?? [];
  const chosen = language === LITERAL && typeof source === "string" ? findWorkflow(items, source) : undefined;
  // The published version is started. Before the first publish, only a draft exists.
  const query = useQuery({
    ...definitions.one(chosen?.id ?? "", chosen?.published_version ? "published" : "latest"),
    enabled: chosen !== undefined,
  });
  const [typed, setTyped] = useState<{ value: Json | undefined; given: WorkflowInput } | null>(null);
  const [asExpression, setAsExpression] = useState(false);
  // An expression may not parse while it is typed, so the typed values are kept beside the written ones.
  const given =
    typed !== null && equal(typed.value, props.value) ? typed.given : readWorkflowInput(props.value, props.names);
  if (chosen === undefined || query.data === undefined || given === null) return <InputEditor {...props} />;
  const name = chosen.name || chosen.id;
  const declared = declaredIn(query.data.document);
  if (asExpression || (declared.length === 0 && Object.keys(given).length === 0))
    return (
      <>
        <InputEditor {...props} />
        {asExpression ? (
          <ModeLink to={t("asFields")} onClick={() => setAsExpression(false)} />
        ) : (
          <p className="faint small">{t("none", { name })}</p>
        )}
      </>
    );
  const set = (input: string, value: Json | undefined): void => {
    const { [input]: _old, ...rest } = given;
    const next: WorkflowInput = value === undefined ? rest : { ...given, [input]: value };
    const written = writeWorkflowInput(next);
    setTyped({ value: written, given: next });
    props.onChange(written);
  };
  const known = new Set(declared.map((input) => input.name));
  const others = Object.keys(given).filter((input) => !known.has(input));
  return (
    <fieldset className="form-group" data-input={props.input.name}>
      <legend>{t("title", { name })}</legend>
      {declared.map((input) => (
        <InputEditor
          key={input.name}
          {...props}
          type={chosen.id}
          input={input}
          value={given[input.name]}
          languages={LANGUAGES}
          problems={problemsOf(input, given, name, props)}
          onChange={(value) => set(input.name, value)}
        />
      ))}
      {others.map((input) => (
        <div key={input} className="row">
          <div className="grow">
            <InputEditor
              {...props}
              type={chosen.id}
              input={{ name: input, description: t("undeclared", { name }) }}
              value={given[input]}
              languages={LANGUAGES}
              problems={[]}
              onChange={(value) => set(input, value ?? null)}
            />
          </div>
          {props.readOnly ? null : (
            <IconButton small icon="close" label={t("remove", { name: input })} onClick={() => set(input, undefined)} />
          )}
        </div>
      ))}
      {props.problems.map((problem) => (
        <p key={problem.code} className={`problem small ${problem.severity}`}>
          {problem.message}
        </p>
      ))}
      {props.readOnly ? null : <ModeLink to={t("asOne")} onClick={() => setAsExpression(true)} />}
    </fieldset>
  );
}

function ModeLink({ to, onClick }: { readonly to: string; readonly onClick: () => void }) {
  return (
    <div>
      <button type="button" className="linkish small" onClick={onClick}>
        {to}
      </button>
    </div>
  );
}

function declaredIn(document: Record<string, unknown>): InputDescriptor[] {
  const { properties = {}, required = [] } = inputSchema(document);
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema: schema as JsonObject,
    hint: hintOfSchema(schema as JsonObject),
    required: required.includes(name) && schema.default === undefined,
    display_name: schema.title ?? name,
    description: schema.description ?? null,
    ...(schema.default === undefined ? {} : { default: schema.default as Json }),
  }));
}

/** In a bulk dispatch each item can provide the input, so it is not reported as missing. */
function problemsOf(input: InputDescriptor, given: WorkflowInput, name: string, { type }: InputEditorProps): Problem[] {
  if (!input.required || given[input.name] !== undefined || type === "BulkDispatchWorkflows") return [];
  return [{ code: "missing", path: "", message: t("missing", { name }), severity: "warning", activityId: null }];
}

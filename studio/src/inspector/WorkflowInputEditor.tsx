/** What a workflow that is started by this one is given: one field for each input that it declares. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { definitions } from "../api/queries";
import { inputSchema } from "../definitions/inputs";
import { catalogue } from "../i18n/messages";
import type { InputDescriptor } from "../model/descriptors";
import { LITERAL, readInput } from "../model/expressions";
import { equal, type Json, type JsonObject } from "../model/json";
import type { Problem } from "../model/validate";
import { type Given, readGiven, writeGiven } from "../model/workflowInput";
import { IconButton } from "../ui";
import { hintOfSchema } from "./editorHints";
import { InputEditor, type InputEditorProps } from "./InputEditor";
import { referredTo } from "./WorkflowLinks";

const t = catalogue("given", {
  title: "{name} is given",
  asOne: "Write it as one expression",
  asFields: "Fill in its fields",
  none: "{name} declares no inputs.",
  undeclared: "{name} declares no such input.",
  remove: "Remove {name}",
  missing: "{name} cannot start without it.",
});

/** Languages that fit into one Python dict. */
const LANGUAGES = [LITERAL, "python", "variable", "input"];

const STARTERS: ReadonlySet<string> = new Set(["ExecuteWorkflow", "DispatchWorkflow", "BulkDispatchWorkflows"]);

export const isGiven = (type: string, input: string): boolean => input === "input" && STARTERS.has(type);

export function GivenEditor(props: InputEditorProps) {
  const { language, source } = readInput(props.workflow);
  const items = useQuery(definitions.known()).data?.items ?? [];
  const chosen = language === LITERAL && typeof source === "string" ? referredTo(items, source) : undefined;
  // What is started is the published one; before the first publish there is only a draft to tell of.
  const query = useQuery({
    ...definitions.one(chosen?.id ?? "", chosen?.published_version ? "published" : "latest"),
    enabled: chosen !== undefined,
  });
  const [held, setHeld] = useState<{ value: Json | undefined; given: Given } | null>(null);
  const [isWhole, setWhole] = useState(false);
  // While an expression is typed it may be no dict for a moment: what was typed is kept beside what was written.
  const given = held !== null && equal(held.value, props.value) ? held.given : readGiven(props.value, props.names);
  if (chosen === undefined || query.data === undefined || given === null) return <InputEditor {...props} />;
  const name = chosen.name || chosen.id;
  const declared = declaredIn(query.data.document);
  if (isWhole || (declared.length === 0 && Object.keys(given).length === 0))
    return (
      <>
        <InputEditor {...props} />
        {isWhole ? (
          <Turn to={t("asFields")} onClick={() => setWhole(false)} />
        ) : (
          <p className="faint small">{t("none", { name })}</p>
        )}
      </>
    );
  const set = (input: string, value: Json | undefined): void => {
    const { [input]: _old, ...rest } = given;
    const next: Given = value === undefined ? rest : { ...given, [input]: value };
    const written = writeGiven(next);
    setHeld({ value: written, given: next });
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
      {props.readOnly ? null : <Turn to={t("asOne")} onClick={() => setWhole(true)} />}
    </fieldset>
  );
}

function Turn({ to, onClick }: { readonly to: string; readonly onClick: () => void }) {
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

/** What is handed over for each item may come from the item, so nothing is missing there. */
function problemsOf(input: InputDescriptor, given: Given, name: string, { type }: InputEditorProps): Problem[] {
  if (!input.required || given[input.name] !== undefined || type === "BulkDispatchWorkflows") return [];
  return [{ code: "missing", path: "", message: t("missing", { name }), severity: "warning", activityId: null }];
}

/** Properties of value editors, and the choice of an editor for an input. */

import type { ComponentType } from "react";
import type { InputDescriptor } from "../model/descriptors";
import { readInput } from "../model/expressions";
import { isList, isObject, type Json, type JsonObject } from "../model/json";
import type { Name } from "../model/scope";

export interface EditorProps {
  readonly id: string;
  readonly label: string;
  readonly value: Json | undefined;
  readonly onChange: (value: Json | undefined) => void;
  readonly schema: JsonObject;
  readonly options: readonly Json[];
  readonly placeholder: string;
  readonly names: readonly Name[];
  readonly readOnly: boolean;
  readonly invalid: boolean;
}

export type ValueEditor = ComponentType<EditorProps>;

/** Overrides for inputs whose descriptor has no hint, or only a generic one. */
const HINTS: Readonly<Record<string, string>> = {
  "SetVariable.variable": "variable",
  "ExecuteWorkflow.workflow": "workflow",
  "DispatchWorkflow.workflow": "workflow",
  "BulkDispatchWorkflows.workflow": "workflow",
  "RunScript.script": "code",
  "Cron.cron": "cron",
  "Cron.expression": "cron",
  "SetOutput.name": "output",
  "HttpEndpoint.supported_methods": "choices",
  "SendHttpRequest.expected_status_codes": "http-status",
  "FlowSendHttpRequest.expected_status_codes": "http-status",
  "WriteHttpResponse.status_code": "http-status-one",
  "FlowFork.branches": "outcomes",
  "RunScript.outcomes": "outcomes",
  "WriteLine.text": "multiline",
  "Log.message": "multiline",
};

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  "HttpEndpoint.supported_methods": METHODS,
  "SendHttpRequest.method": METHODS,
  "FlowSendHttpRequest.method": METHODS,
  "DownloadHttpFile.method": METHODS,
  "FlowJoin.mode": ["wait_any", "wait_all"],
  "Fork.join": ["wait_all", "wait_any"],
  "Switch.mode": ["match_first", "match_any"],
  "FlowSwitch.mode": ["match_first", "match_any"],
  "RunScript.language": ["python", "javascript", "liquid"],
  "Log.level": ["trace", "debug", "information", "warning", "error", "critical"],
};

/** Hint names of other systems and plugins for the same editors. */
const ALIASES: Readonly<Record<string, string>> = {
  string: "text",
  "single-line": "text",
  singleline: "text",
  "multi-line": "multiline",
  textarea: "multiline",
  boolean: "switch",
  checkbox: "switch",
  integer: "number",
  dropdown: "options",
  select: "options",
  enum: "options",
  radiolist: "options",
  checklist: "choices",
  timespan: "duration",
  "date-time": "datetime",
  dictionary: "map",
  object: "map",
  array: "list",
  "multi-text": "list",
  multitext: "list",
  "code-editor": "code",
  script: "code",
  "variable-picker": "variable",
  "workflow-definition-picker": "workflow",
  "outcome-picker": "outcomes",
  "dynamic-outcomes": "outcomes",
  "http-status-codes": "http-status",
  password: "secret",
  "secret-picker": "secret",
  expression: "any",
};

export function optionsFor(type: string, input: InputDescriptor): readonly Json[] {
  if (isList(input.options)) return input.options;
  const choices = input.schema?.enum;
  return isList(choices) ? choices : (OPTIONS[`${type}.${input.name}`] ?? []);
}

/** Hint that selects the editor. The hint of a plugin is passed through. */
export function hintFor(type: string, input: InputDescriptor): string {
  const key = `${type}.${input.name}`;
  const known = HINTS[key];
  if (known !== undefined) return known;
  if (input.secret) return "secret";
  const hint = (input.hint ?? input.editor ?? "").toLowerCase();
  if (optionsFor(type, input).length > 0 && (hint === "" || hint === "text" || hint === "options")) return "options";
  if (hint !== "" && hint !== "expression") return ALIASES[hint] ?? hint;
  if (/cron/i.test(input.name)) return "cron";
  return hintOfSchema(input.schema ?? {});
}

export function hintOfSchema(schema: JsonObject): string {
  const plain = withoutNull(schema);
  if (isList(plain.enum)) return "options";
  const format = plain.format;
  if (format === "duration") return "duration";
  if (format === "date-time") return "datetime";
  if (format === "date") return "date";
  switch (plain.type) {
    case "string":
      return "text";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "switch";
    case "array":
      return "list";
    case "object":
      return isObject(plain.properties) ? "schema" : "map";
    default:
      return "any";
  }
}

/** `{anyOf: [X, null]}` → X. */
export function withoutNull(schema: JsonObject): JsonObject {
  const any = schema.anyOf;
  if (!isList(any)) return schema;
  const rest = any.filter((item) => isObject(item) && item.type !== "null");
  const [only] = rest;
  return rest.length === 1 && isObject(only) ? only : schema;
}

/** Whether an input is shown: it may depend on the value of another input. An input with a value is always shown. */
export function isInputVisible(input: InputDescriptor, inputs: JsonObject, all: readonly InputDescriptor[]): boolean {
  if (inputs[input.name] !== undefined) return true;
  return Object.entries(input.shown_when ?? {}).every(([name, wanted]) => {
    const { language, source } = readInput(inputs[name]);
    // The value of an expression is unknown.
    if (language !== "literal") return true;
    const now = source ?? all.find((item) => item.name === name)?.default ?? null;
    return isList(wanted) ? wanted.includes(now) : now === wanted;
  });
}

/** Editor of one input of an activity: a literal or an expression in a selectable language. */

import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { api } from "../api/client";
import { defineMessages } from "../i18n/messages";
import type { InputDescriptor } from "../model/descriptors";
import { type Expression, LITERAL, readInput, toLanguage, writeInput } from "../model/expressions";
import { isObject, type Json } from "../model/json";
import type { Name } from "../model/scope";
import type { Problem } from "../model/validate";
import { usePlugins } from "../plugins/registry";
import { TextWithCode } from "../ui";
import { CodeEditor } from "./CodeEditor";
import { Preview } from "./ExpressionPreview";
import { hintFor, optionsFor } from "./editorHints";
import { LiteralEditor } from "./editors";
import { JsonValue } from "./editors/compound";
import { NameSelect } from "./editors/pickers";

const t = defineMessages("input", {
  language: "{input}: kind of value",
  literal: "Value",
  python: "Python",
  javascript: "JavaScript",
  liquid: "Liquid",
  variable: "Variable",
  input: "Input",
  expression: "An expression, such as total > 1000",
});

const BUILT_IN = [LITERAL, "python", "javascript", "liquid", "variable", "input"] as const;

export interface InputEditorProps {
  readonly type: string;
  readonly input: InputDescriptor;
  readonly value: Json | undefined;
  readonly onChange: (value: Json | undefined) => void;
  readonly names: readonly Name[];
  readonly problems: readonly Problem[];
  readonly readOnly: boolean;
  /** Restricts the languages. */
  readonly languages?: readonly string[];
  /** Value of the activity's input `workflow`, for the inputs of the started workflow. */
  readonly workflow?: Json | undefined;
}

export function InputEditor({ type, input, value, onChange, names, problems, readOnly, languages }: InputEditorProps) {
  const id = useId();
  const expression = value === undefined && isCondition(input) ? { language: "python", source: "" } : readInput(value);
  const label = input.display_name ?? input.name;
  const worst = problems.find((problem) => problem.severity === "error") ?? problems[0];
  return (
    <div className="hf-input" data-input={input.name}>
      <div className="hf-input-head">
        <label htmlFor={id} title={input.description ?? undefined}>
          {label}
          {input.required ? <span aria-hidden="true"> *</span> : null}
        </label>
        <LanguageSelect
          label={label}
          value={expression.language}
          disabled={readOnly}
          languages={languages}
          onChange={(language) =>
            onChange(
              writeInput(toLanguage(expression, language)) ??
                (language === LITERAL ? undefined : { [`$${language}`]: "" }),
            )
          }
        />
      </div>
      <Body
        id={id}
        label={label}
        type={type}
        input={input}
        expression={expression}
        onChange={onChange}
        names={names}
        readOnly={readOnly}
        invalid={worst?.severity === "error"}
      />
      {worst !== undefined ? (
        <p className={`problem small ${worst.severity}`}>{[worst.message, worst.remedy].filter(Boolean).join(" ")}</p>
      ) : null}
      {worst === undefined && input.description ? (
        <p className="hint faint small">
          <TextWithCode text={firstSentence(input.description)} />
        </p>
      ) : null}
    </div>
  );
}

/** A constant condition is never useful, so an empty one starts as an expression. */
function isCondition(input: InputDescriptor): boolean {
  return input.type === "boolean" && (input.evaluated === false || input.name === "condition");
}

function firstSentence(text: string): string {
  return /^[^\n]*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text.split("\n")[0] ?? "";
}

interface BodyProps {
  readonly id: string;
  readonly label: string;
  readonly type: string;
  readonly input: InputDescriptor;
  readonly expression: Expression;
  readonly onChange: (value: Json | undefined) => void;
  readonly names: readonly Name[];
  readonly readOnly: boolean;
  readonly invalid: boolean;
}

function Body({ id, label, type, input, expression, onChange, names, readOnly, invalid }: BodyProps) {
  const { language, source } = expression;
  // A plugin names the built-in editor for its language.
  const editor = usePlugins((plugins) => plugins.languages.find((item) => item.id === language)?.editor) ?? language;
  if (language === "variable" || language === "input") {
    const kinds = language === "input" ? ["input"] : ["variable", "loop", "output"];
    const options = names.filter((name) => kinds.includes(name.kind)).map((name) => name.name);
    return (
      <NameSelect
        id={id}
        value={source}
        onChange={(next) => onChange({ [`$${language}`]: next ?? "" })}
        readOnly={readOnly}
        invalid={invalid}
        options={options}
      />
    );
  }
  if (language === LITERAL) {
    const placeholder =
      input.default === undefined || input.default === null || isObject(input.default) ? "" : String(input.default);
    return (
      <LiteralEditor
        id={id}
        hint={hintFor(type, input)}
        label={label}
        value={source === null ? undefined : source}
        onChange={(next) => onChange(writeInput({ language: LITERAL, source: next ?? null }))}
        schema={input.schema ?? {}}
        options={optionsFor(type, input)}
        placeholder={placeholder}
        names={names}
        readOnly={readOnly}
        invalid={invalid}
      />
    );
  }
  if (typeof source !== "string") {
    return (
      <JsonValue
        value={source}
        onChange={(next) => onChange({ [`$${language}`]: next ?? null })}
        readOnly={readOnly}
        label={label}
      />
    );
  }
  return (
    <>
      <CodeEditor
        value={source}
        language={editor}
        label={label}
        names={names}
        readOnly={readOnly || language === "code"}
        invalid={invalid}
        placeholder={t("expression")}
        onChange={(text) => onChange(text === "" && isCondition(input) ? undefined : { [`$${language}`]: text })}
      />
      {language === "code" ? null : <Preview language={language} source={source} />}
    </>
  );
}

const EXPRESSIONS = {
  queryKey: ["descriptors", "expressions"],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    api.get<{ items: { language: string; display_name: string; browsable: boolean }[] }>(
      "/api/descriptors/expressions",
      {},
      signal,
    ),
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
};

interface LanguageProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (language: string) => void;
  readonly disabled: boolean;
  readonly languages?: readonly string[] | undefined;
}

export function LanguageSelect({ label, value, onChange, disabled, languages }: LanguageProps) {
  const plugins = usePlugins((state) => state.languages);
  const known = useQuery(EXPRESSIONS).data?.items ?? [];
  const byId = new Map(
    [
      ...known.filter((item) => item.browsable).map((item) => ({ id: item.language, title: item.display_name })),
      ...plugins,
    ].map((item) => [item.id, item]),
  );
  const isOffered = (id: string): boolean => languages === undefined || languages.includes(id);
  const more = [...byId.values()].filter(
    (item) => !(BUILT_IN as readonly string[]).includes(item.id) && item.id !== "object" && isOffered(item.id),
  );
  const isKnown = (BUILT_IN as readonly string[]).includes(value) || more.some((item) => item.id === value);
  return (
    <select
      className="select hf-language"
      aria-label={t("language", { input: label })}
      value={value}
      disabled={disabled}
      data-expression={value === LITERAL ? undefined : ""}
      onChange={(event) => onChange(event.target.value)}
    >
      {BUILT_IN.filter((language) => isOffered(language) || language === value).map((language) => (
        <option key={language} value={language}>
          {t(language)}
        </option>
      ))}
      {more.map((item) => (
        <option key={item.id} value={item.id}>
          {item.title}
        </option>
      ))}
      {isKnown ? null : <option value={value}>{value}</option>}
    </select>
  );
}

/** Editors of lists, maps, JSON and status codes. */

import { useEffect, useState } from "react";
import { defineMessages } from "../../i18n/messages";
import { isList, isObject, type Json } from "../../model/json";
import { Button, IconButton } from "../../ui";
import { CodeEditor } from "../CodeEditor";
import type { EditorProps } from "../editorHints";
import { withoutNull } from "../editorHints";

const t = defineMessages("lists", {
  add: "Add",
  remove: "Remove",
  key: "Name",
  value: "Value",
  item: "Item {n}",
  notJson: "Invalid JSON: {why}",
  addCode: "Add a status code",
  code: "Status code",
});

/** Text and numbers are edited in place; other items as JSON. */
export function ListEditor({ value, onChange, schema, readOnly, label, placeholder }: EditorProps) {
  const { added, add } = useAdded();
  const items = isList(value) ? value : [];
  const inner = withoutNull(schema).items;
  const type = isObject(inner) ? inner.type : "string";
  if (
    items.some((item) => typeof item === "object") ||
    (type !== "string" && type !== "integer" && type !== "number" && type !== undefined)
  ) {
    return <JsonValue value={value} onChange={onChange} readOnly={readOnly} label={label} />;
  }
  const isNumber = type === "integer" || type === "number";
  const set = (next: readonly Json[]): void => onChange(next.length > 0 ? next : undefined);
  return (
    <fieldset className="hf-list" aria-label={label}>
      {items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their position, and their content changes while it is typed
        <div key={index} className="row">
          <input
            className="input"
            aria-label={t("item", { n: index + 1 })}
            // biome-ignore lint/a11y/noAutofocus: the user has just added this row and fills it in next
            autoFocus={index === added}
            type={isNumber ? "number" : "text"}
            value={String(item ?? "")}
            readOnly={readOnly}
            placeholder={placeholder}
            onChange={(event) => set(items.with(index, isNumber ? Number(event.target.value) : event.target.value))}
          />
          {readOnly ? null : (
            <IconButton small icon="close" label={t("remove")} onClick={() => set(items.toSpliced(index, 1))} />
          )}
        </div>
      ))}
      {readOnly ? null : <Add onAdd={() => add(items.length, () => onChange([...items, isNumber ? 0 : ""]))} />}
    </fieldset>
  );
}

/** Adds an item, which takes the focus. */
function Add({ onAdd }: { readonly onAdd: () => void }) {
  return (
    <Button small kind="plain" icon="add" onClick={onAdd}>
      {t("add")}
    </Button>
  );
}

function useAdded(): { readonly added: number | null; readonly add: (index: number, change: () => void) => void } {
  const [added, setAdded] = useState<number | null>(null);
  return {
    added,
    add: (index, change) => {
      setAdded(index);
      change();
    },
  };
}

/** Name and value pairs. A value that parses as JSON is stored as JSON. */
export function MapEditor({ value, onChange, readOnly, label }: EditorProps) {
  const entries = isObject(value) ? Object.entries(value) : [];
  const { added, add } = useAdded();
  const set = (next: readonly (readonly [string, Json | undefined])[]): void =>
    onChange(next.length > 0 ? (Object.fromEntries(next) as Json) : undefined);
  return (
    <fieldset className="hf-list" aria-label={label}>
      {entries.map(([key, item], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their position, and their content changes while it is typed
        <div key={index} className="row">
          <input
            className="input mono"
            aria-label={t("key")}
            placeholder={t("key")}
            // biome-ignore lint/a11y/noAutofocus: the user has just added this row and fills it in next
            autoFocus={index === added}
            value={key}
            readOnly={readOnly}
            onChange={(event) => set(entries.with(index, [event.target.value, item]))}
          />
          <input
            className="input"
            aria-label={t("value")}
            placeholder={t("value")}
            value={asText(item)}
            readOnly={readOnly}
            onChange={(event) => set(entries.with(index, [key, asValue(event.target.value)]))}
          />
          {readOnly ? null : (
            <IconButton small icon="close" label={t("remove")} onClick={() => set(entries.toSpliced(index, 1))} />
          )}
        </div>
      ))}
      {readOnly || entries.some(([key]) => key === "") ? null : (
        <Add onAdd={() => add(entries.length, () => set([...entries, ["", ""]]))} />
      )}
    </fieldset>
  );
}

export function asText(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Parses `12`, `true` and `[1]` as JSON; everything else is text. */
export function asValue(text: string): Json {
  if (!/^(-?\d|\[|\{|true$|false$|null$)/.test(text.trim())) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** Any value as JSON text. Invalid text stays in the editor and is not written to the document. */
export function JsonValue({
  value,
  onChange,
  readOnly,
  label,
}: {
  value: Json | undefined;
  onChange: (value: Json | undefined) => void;
  readOnly: boolean;
  label: string;
}) {
  const formatted = value === undefined ? "" : JSON.stringify(value, null, 2);
  const [draft, setDraft] = useState(formatted);
  const [why, setWhy] = useState<string | null>(null);
  useEffect(() => {
    setDraft((now) => (sameJson(now, formatted) ? now : formatted));
    setWhy(null);
  }, [formatted]);
  return (
    <div className="stack">
      <CodeEditor
        value={draft}
        language="json"
        label={label}
        readOnly={readOnly}
        invalid={why !== null}
        onChange={(text) => {
          setDraft(text);
          if (text.trim() === "") {
            setWhy(null);
            onChange(undefined);
            return;
          }
          try {
            onChange(JSON.parse(text) as Json);
            setWhy(null);
          } catch (error) {
            setWhy(error instanceof Error ? error.message : String(error));
          }
        }}
      />
      {why !== null ? <p className="problem small">{t("notJson", { why })}</p> : null}
    </div>
  );
}

function sameJson(left: string, right: string): boolean {
  try {
    return JSON.stringify(JSON.parse(left)) === JSON.stringify(JSON.parse(right));
  } catch {
    return left.trim() === right.trim();
  }
}

export function JsonEditor({ value, onChange, readOnly, label }: EditorProps) {
  return <JsonValue value={value} onChange={onChange} readOnly={readOnly} label={label} />;
}

/** A value of any type: plain text, or JSON if it looks like JSON. */
export function AnyEditor({ id, value, onChange, readOnly, label, placeholder, invalid }: EditorProps) {
  if (typeof value === "object" && value !== null)
    return <JsonValue value={value} onChange={onChange} readOnly={readOnly} label={label} />;
  return (
    <input
      id={id}
      className="input"
      value={asText(value)}
      placeholder={placeholder}
      readOnly={readOnly}
      aria-invalid={invalid || undefined}
      onChange={(event) => onChange(event.target.value === "" ? undefined : asValue(event.target.value))}
    />
  );
}

const COMMON_CODES = [200, 201, 204, 400, 401, 403, 404, 409, 422, 429, 500, 503];

/** HTTP status codes; each becomes an outcome. */
export function StatusCodesEditor({ value, onChange, readOnly, label }: EditorProps) {
  const codes = isList(value) ? value.map(Number) : [];
  return (
    <fieldset className="hf-list" aria-label={label}>
      <div className="row wrap">
        {codes.map((code) => (
          <span key={code} className="chip">
            {code}
            {readOnly ? null : (
              <button
                type="button"
                className="hf-chip-x"
                aria-label={`${t("remove")} ${code}`}
                onClick={() => onChange(without(codes, code))}
              >
                ×
              </button>
            )}
          </span>
        ))}
      </div>
      {readOnly ? null : (
        <input
          className="input"
          type="number"
          min={100}
          max={599}
          list="hf-status-codes"
          placeholder={t("addCode")}
          aria-label={t("addCode")}
          onChange={(event) => {
            const code = Number(event.target.value);
            if (code >= 100 && code <= 599 && !codes.includes(code)) {
              onChange([...codes, code].sort((left, right) => left - right));
              event.target.value = "";
            }
          }}
        />
      )}
      <CodeList />
    </fieldset>
  );
}

function CodeList() {
  return (
    <datalist id="hf-status-codes">
      {COMMON_CODES.map((code) => (
        <option key={code} value={code} />
      ))}
    </datalist>
  );
}

export function StatusCodeEditor({ id, value, onChange, readOnly, placeholder }: EditorProps) {
  return (
    <>
      <input
        id={id}
        className="input"
        type="number"
        min={100}
        max={599}
        list="hf-status-codes"
        placeholder={placeholder || "200"}
        aria-label={t("code")}
        value={asText(value)}
        readOnly={readOnly}
        onChange={(event) => onChange(event.target.value === "" ? undefined : Number(event.target.value))}
      />
      <CodeList />
    </>
  );
}

function without(codes: readonly number[], code: number): Json | undefined {
  const rest = codes.filter((item) => item !== code);
  return rest.length > 0 ? rest : undefined;
}

export function CodeValueEditor({ value, onChange, readOnly, label, names }: EditorProps) {
  return (
    <CodeEditor
      value={asText(value)}
      language="python"
      label={label}
      readOnly={readOnly}
      names={names}
      onChange={(text) => onChange(text === "" ? undefined : text)}
    />
  );
}

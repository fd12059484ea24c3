import { defineMessages } from "../i18n/messages";
import { Field, SelectField, Switch, TextArea, TextField } from "./Field";
import { InvalidJson, kindOf, label, readJson, type Schema, unwrapNullable } from "./schema";

export { problems, type Schema, startOf } from "./schema";

const t = defineMessages("form", { choose: "Choose …", json: "JSON" });

type FormProps = {
  schema: Schema;
  value: Record<string, unknown>;
  onChange: (value: Record<string, unknown>) => void;
  problems: Record<string, string>;
  path?: string;
  disabled?: boolean;
};

/** A form for an object, from its JSON Schema. */
export function SchemaForm({ schema, value, onChange, problems, path = "", disabled }: FormProps) {
  return (
    <>
      {Object.entries(schema.properties ?? {}).map(([name, inner]) => (
        <SchemaField
          key={name}
          name={name}
          path={path ? `${path}.${name}` : name}
          schema={unwrapNullable(inner)}
          required={schema.required?.includes(name) ?? false}
          value={value[name]}
          problems={problems}
          disabled={disabled ?? false}
          onChange={(changed) => onChange({ ...value, [name]: changed })}
        />
      ))}
    </>
  );
}

type SchemaFieldProps = {
  name: string;
  path: string;
  schema: Schema;
  required: boolean;
  value: unknown;
  problems: Record<string, string>;
  disabled: boolean;
  onChange: (value: unknown) => void;
};

const asText = (value: unknown): string => (value === undefined || value === null ? "" : String(value));

const asJson = (value: unknown): string => {
  if (value instanceof InvalidJson) return value.text;
  return value === undefined ? "" : JSON.stringify(value, null, 2);
};

function SchemaField({ name, path, schema, required, value, problems, disabled, onChange }: SchemaFieldProps) {
  const around = { label: label(name, schema), hint: schema.description, problem: problems[path], required };
  const control = { disabled, name: path };
  const kind = kindOf(schema);
  const blank = (text: string): string | undefined => (text === "" ? undefined : text);
  switch (kind) {
    case "switch":
      return (
        <Switch
          label={around.label}
          checked={value === true}
          {...control}
          onChange={(e) => onChange(e.target.checked)}
        />
      );
    case "choice":
      return (
        <SelectField
          {...around}
          {...control}
          value={value === undefined ? "" : JSON.stringify(value)}
          options={[
            { value: "", label: t("choose") },
            ...(schema.enum ?? []).map((one) => ({ value: JSON.stringify(one), label: String(one) })),
          ]}
          onChange={(e) => onChange(e.target.value === "" ? undefined : (JSON.parse(e.target.value) as unknown))}
        />
      );
    case "number":
    case "integer":
      return (
        <TextField
          {...around}
          {...control}
          type="number"
          step={kind === "integer" ? 1 : "any"}
          min={schema.minimum}
          max={schema.maximum}
          value={asText(value)}
          onChange={(e) => onChange(e.target.value === "" ? undefined : Number(e.target.value))}
        />
      );
    case "date":
      return (
        <TextField
          {...around}
          {...control}
          type="date"
          value={asText(value)}
          onChange={(e) => onChange(blank(e.target.value))}
        />
      );
    case "datetime":
      return (
        <TextField
          {...around}
          {...control}
          type="datetime-local"
          value={localTime(value)}
          onChange={(e) => onChange(e.target.value ? new Date(e.target.value).toISOString() : undefined)}
        />
      );
    case "text":
      return (
        <TextField {...around} {...control} value={asText(value)} onChange={(e) => onChange(blank(e.target.value))} />
      );
    case "long":
      return (
        <TextArea {...around} {...control} value={asText(value)} onChange={(e) => onChange(blank(e.target.value))} />
      );
    case "object":
      return (
        <fieldset className="form-group">
          <legend>{around.label}</legend>
          <SchemaForm
            schema={schema}
            path={path}
            value={(value ?? {}) as Record<string, unknown>}
            problems={problems}
            disabled={disabled}
            onChange={onChange}
          />
        </fieldset>
      );
    case "json":
      return (
        <Field {...around} hint={around.hint ?? t("json")}>
          {(attributes) => (
            <textarea
              className="area mono"
              rows={3}
              spellCheck={false}
              defaultValue={asJson(value)}
              {...control}
              {...attributes}
              onChange={(e) => onChange(readJson(e.target.value))}
            />
          )}
        </Field>
      );
  }
}

function localTime(value: unknown): string {
  if (typeof value !== "string" || Number.isNaN(Date.parse(value))) return "";
  const at = new Date(value);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Editor of an object by its JSON Schema: one field per property. Without properties, the value is edited as JSON. */

import { useId } from "react";
import { isList, isObject, type Json, type JsonObject } from "../../model/json";
import { type EditorProps, hintOfSchema, withoutNull } from "../editorHints";
import { JsonValue } from "./compound";
import { LiteralEditor } from "./index";

export function SchemaEditor({ value, onChange, schema, readOnly, label, names }: EditorProps) {
  const plain = withoutNull(schema);
  const properties = plain.properties;
  if (!isObject(properties)) return <JsonValue value={value} onChange={onChange} readOnly={readOnly} label={label} />;
  const object = isObject(value) ? value : {};
  const required = isList(plain.required) ? plain.required : [];
  return (
    <fieldset className="form-group">
      <legend>{label}</legend>
      {Object.entries(properties).map(([name, inner]) => (
        <Property
          key={name}
          name={name}
          schema={isObject(inner) ? inner : {}}
          required={required.includes(name)}
          value={object[name]}
          names={names}
          readOnly={readOnly}
          onChange={(next) => {
            const { [name]: _old, ...rest } = object;
            const changed: JsonObject = next === undefined ? rest : { ...object, [name]: next };
            onChange(Object.keys(changed).length > 0 ? changed : undefined);
          }}
        />
      ))}
    </fieldset>
  );
}

interface PropertyProps {
  readonly name: string;
  readonly schema: JsonObject;
  readonly required: boolean;
  readonly value: Json | undefined;
  readonly names: EditorProps["names"];
  readonly readOnly: boolean;
  readonly onChange: (value: Json | undefined) => void;
}

function Property({ name, schema, required, value, names, readOnly, onChange }: PropertyProps) {
  const id = useId();
  const title = schema.title;
  const label = typeof title === "string" ? title : name;
  const choices = withoutNull(schema).enum;
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {required ? " *" : ""}
      </label>
      <LiteralEditor
        id={id}
        hint={typeof schema["x-hint"] === "string" ? schema["x-hint"] : hintOfSchema(schema)}
        label={label}
        value={value}
        onChange={onChange}
        schema={schema}
        options={isList(choices) ? choices : []}
        placeholder={schema.default === undefined ? "" : String(schema.default)}
        names={names}
        readOnly={readOnly}
        invalid={false}
      />
    </div>
  );
}

/** JSON Schema for forms: kinds of fields, default values and validation. */
export type Schema = {
  type?: string | string[];
  title?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  anyOf?: Schema[];
  oneOf?: Schema[];
};

export type FieldKind =
  | "text"
  | "long"
  | "number"
  | "integer"
  | "switch"
  | "choice"
  | "date"
  | "datetime"
  | "object"
  | "json";

/** Unwraps `["string", "null"]` and `anyOf: [X, null]` to X. */
export function unwrapNullable(schema: Schema): Schema {
  const ways = schema.anyOf ?? schema.oneOf;
  const real = ways?.filter((way) => way.type !== "null");
  if (real?.length === 1 && real[0]) return { ...schema, ...real[0] };
  return schema;
}

const typeOf = (schema: Schema): string | undefined =>
  Array.isArray(schema.type) ? schema.type.find((type) => type !== "null") : schema.type;

export function kindOf(given: Schema): FieldKind {
  const schema = unwrapNullable(given);
  if (schema.enum) return "choice";
  switch (typeOf(schema)) {
    case "boolean":
      return "switch";
    case "integer":
      return "integer";
    case "number":
      return "number";
    case "string":
      if (schema.format === "date") return "date";
      if (schema.format === "date-time") return "datetime";
      return schema.format === "multiline" || (schema.maxLength ?? 0) > 200 ? "long" : "text";
    case "object":
      return schema.properties && Object.keys(schema.properties).length > 0 ? "object" : "json";
    default:
      return "json";
  }
}

export const label = (name: string, schema: Schema): string => {
  if (schema.title) return schema.title;
  const words = name.replaceAll("_", " ").replace(/([a-z])([A-Z])/g, "$1 $2");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** Validation problems by path; empty if the value is valid. */
export function problems(given: Schema, value: unknown, required: boolean, path = ""): Record<string, string> {
  const schema = unwrapNullable(given);
  if (value === undefined || value === null || value === "") return required ? { [path]: "Required." } : {};
  const kind = kindOf(schema);
  if (kind === "object") {
    const fields = value as Record<string, unknown>;
    return Object.assign(
      {},
      ...Object.entries(schema.properties ?? {}).map(([name, inner]) =>
        problems(inner, fields[name], schema.required?.includes(name) ?? false, path ? `${path}.${name}` : name),
      ),
    ) as Record<string, string>;
  }
  const wrong = valueProblem(schema, kind, value);
  return wrong ? { [path]: wrong } : {};
}

function valueProblem(schema: Schema, kind: FieldKind, value: unknown): string | null {
  if (value instanceof InvalidJson) return `Invalid JSON: ${value.why}`;
  if (kind === "number" || kind === "integer") {
    if (typeof value !== "number" || Number.isNaN(value)) return "Enter a number.";
    if (kind === "integer" && !Number.isInteger(value)) return "Enter a whole number.";
    if (schema.minimum !== undefined && value < schema.minimum) return `At least ${schema.minimum}.`;
    if (schema.maximum !== undefined && value > schema.maximum) return `At most ${schema.maximum}.`;
  }
  if (typeof value === "string") {
    if (schema.minLength !== undefined && value.length < schema.minLength)
      return `At least ${schema.minLength} characters.`;
    if (schema.maxLength !== undefined && value.length > schema.maxLength)
      return `At most ${schema.maxLength} characters.`;
    if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value))
      return `Must match the pattern ${schema.pattern}.`;
  }
  return null;
}

/** Invalid JSON text. The form keeps it while the user types, and rejects it on submit. */
export class InvalidJson {
  readonly text: string;
  readonly why: string;

  constructor(text: string, why: string) {
    this.text = text;
    this.why = why;
  }
}

export function readJson(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    return new InvalidJson(text, error instanceof Error ? error.message : String(error));
  }
}

/** Initial value of a form. */
export function startOf(schema: Schema): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).flatMap(([name, inner]): [string, unknown][] => {
      if (inner.default !== undefined && inner.default !== null) return [[name, inner.default]];
      if (kindOf(inner) === "object") return [[name, startOf(unwrapNullable(inner))]];
      // A required switch starts as off, because it is displayed as off.
      if (kindOf(inner) === "switch" && schema.required?.includes(name)) return [[name, false]];
      return [];
    }),
  );
}

/** Form schema of the inputs of a definition, and its possible start activities. */
import type { Schema } from "../ui/schema";

type Declared = {
  name: string;
  type?: string;
  required?: boolean;
  default?: unknown;
  description?: string | null;
  display_name?: string | null;
  editor?: string | null;
};

const TYPES: Record<string, Schema> = {
  string: { type: "string" },
  text: { type: "string" },
  integer: { type: "integer" },
  int: { type: "integer" },
  number: { type: "number" },
  float: { type: "number" },
  decimal: { type: "number" },
  boolean: { type: "boolean" },
  bool: { type: "boolean" },
  date: { type: "string", format: "date" },
  datetime: { type: "string", format: "date-time" },
  duration: { type: "string", description: "A duration such as PT30S or 1.02:00:00" },
  timedelta: { type: "string", description: "A duration such as PT30S or 1.02:00:00" },
  uuid: { type: "string" },
};

export function inputSchema(document: Record<string, unknown>): Schema {
  const declared = (Array.isArray(document.inputs) ? document.inputs : []) as Declared[];
  return {
    type: "object",
    required: declared.filter((one) => one.required).map((one) => one.name),
    properties: Object.fromEntries(
      declared.map((one) => [
        one.name,
        {
          ...TYPES[(one.type ?? "").toLowerCase()],
          ...(one.editor === "multi-line" ? { format: "multiline" } : {}),
          ...(one.display_name ? { title: one.display_name } : {}),
          ...(one.description ? { description: one.description } : {}),
          ...(one.default !== undefined && one.default !== null ? { default: one.default } : {}),
        },
      ]),
    ),
  };
}

/** Activities of the outermost flowchart, where an instance can start. */
export function startsOf(
  document: Record<string, unknown>,
  titled: (type: string) => string | undefined,
): { id: string; label: string }[] {
  const root = document.root as
    | { type?: string; activities?: { id?: string; name?: string | null; type?: string }[] }
    | undefined;
  if (root?.type !== "Flowchart" || !Array.isArray(root.activities)) return [];
  return root.activities.flatMap((one) =>
    one.id ? [{ id: one.id, label: `${one.name || titled(one.type ?? "") || one.type} (${one.id})` }] : [],
  );
}

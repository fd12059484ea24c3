/** Commands on the definition itself: name, declarations, options and the whole source. */

import { type Definition, placesOf, walk } from "../../model/document";
import { readInput } from "../../model/expressions";
import { withIds } from "../../model/ids";
import { isObject, type Json, type JsonObject, setAt } from "../../model/json";
import { ALLOWED, type Command, type EditorState, refuse } from "../command";
import { setInside, withDocument } from "./levels";

export function setField(
  key: "name" | "description" | "labels" | "outcomes" | "metadata",
  value: Json | undefined,
): Command {
  return {
    name: "set-field",
    label: `set ${key}`,
    merge: `definition ${key}`,
    do: (state) => withDocument(state, setAt(state.document, [key], value)),
  };
}

export function setDefinitionOption(key: string, value: Json | undefined): Command {
  return {
    name: "set-definition-option",
    label: `set ${key}`,
    merge: `definition option ${key}`,
    do: (state) =>
      withDocument(state, setInside(state.document as never, "options", key, value) as unknown as Definition),
  };
}

export type Part = "inputs" | "outputs" | "variables";

/** Sets one declaration. `null` removes it; an index past the end adds it. References follow a renamed variable. */
export function declare(part: Part, index: number, value: JsonObject | null): Command {
  const label = value === null ? "remove a declaration" : "declare";
  return {
    name: "declare",
    label,
    merge: `declare ${part} ${index} ${value === null ? "remove" : "set"}`,
    check: (state) => mayDeclare(state, part, index, value),
    do(state) {
      const before = (state.document[part] ?? []) as readonly JsonObject[];
      const old = before[index];
      const next =
        value === null ? before.toSpliced(index, 1) : before.toSpliced(index, old === undefined ? 0 : 1, value);
      const document = setAt(state.document, [part], next.length > 0 ? next : undefined);
      const from = old?.name;
      const to = value?.name;
      if (typeof from !== "string" || typeof to !== "string" || from === to || from === "")
        return withDocument(state, document);
      return withDocument(state, renameReferences(document, part, from, to));
    },
  };
}

function mayDeclare(state: EditorState, part: Part, index: number, value: JsonObject | null) {
  if (value === null) return ALLOWED;
  const all = (state.document[part] ?? []) as readonly JsonObject[];
  const taken = all.some((item, at) => at !== index && item.name === value.name);
  return taken ? refuse(`“${String(value.name)}” is already declared.`) : ALLOWED;
}

/** Renames `$variable`, `$input` and output targets. The text of expressions is not changed. */
function renameReferences(document: Definition, part: Part, from: string, to: string): Definition {
  const language = part === "inputs" ? "input" : "variable";
  let next = document;
  for (const { activity, path } of walk(document)) {
    for (const [name, value] of Object.entries(activity.inputs ?? {})) {
      const expression = readInput(value);
      if (isObject(value) && expression.language === language && expression.source === from) {
        next = setAt(next, [...path, "inputs", name], { [`$${language}`]: to });
      }
    }
    if (part === "inputs") continue;
    for (const [name, target] of Object.entries(activity.outputs ?? {})) {
      if (target === from) next = setAt(next, [...path, "outputs", name], to);
    }
    if (part === "variables" && activity.type === "SetVariable" && activity.inputs?.variable === from) {
      next = setAt(next, [...path, "inputs", "variable"], to);
    }
  }
  return next;
}

/** Replaces the whole document, from the source editor or from another user's version. */
export function setSource(document: JsonObject): Command {
  return {
    name: "source",
    label: "edit the source",
    check: () => (isObject(document.root) ? ALLOWED : refuse("A definition needs a root activity.")),
    do(state) {
      const next = withIds(document);
      const focus =
        state.focus.id !== null && !placesOf(next).has(state.focus.id) ? { id: null, port: "root" } : state.focus;
      return { document: next, focus, selection: [] };
    },
  };
}

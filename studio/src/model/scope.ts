/** Names in scope of an activity's expressions: variables, workflow inputs and loop variables. */

import type { Catalogue } from "./descriptors";
import { ancestry, type Definition, placesOf } from "./document";

export interface Name {
  readonly name: string;
  readonly kind: "variable" | "input" | "output" | "loop";
  readonly type: string;
  /** Origin: the workflow, or the id of the activity that declares it. */
  readonly from: string;
}

export function namesFor(definition: Definition, catalogue: Catalogue, activityId: string | null): Name[] {
  const found = new Map<string, Name>();
  const add = (name: Name): void => void found.set(name.name, name);
  for (const input of definition.inputs ?? []) {
    add({ name: input.name, kind: "input", type: input.type ?? "any", from: "workflow" });
  }
  for (const variable of definition.variables ?? []) {
    add({ name: variable.name, kind: "variable", type: variable.type ?? "any", from: "workflow" });
  }
  const chain = activityId === null ? [] : ancestry(definition, activityId);
  for (const [position, place] of chain.entries()) {
    for (const variable of place.activity.variables ?? []) {
      add({ name: variable.name, kind: "variable", type: variable.type ?? "any", from: place.activity.id });
    }
    const next = chain[position + 1];
    const ports = catalogue.get(place.activity.type)?.ports ?? [];
    const handed = next === undefined ? [] : (ports.find((port) => port.name === next.port)?.variables ?? []);
    for (const name of handed)
      add({ name: loopName(place.activity, name), kind: "loop", type: "any", from: place.activity.id });
  }
  return [...found.values()];
}

/** ForEach names its current value after its input `item`. */
function loopName(activity: { readonly inputs?: { readonly [key: string]: unknown } }, name: string): string {
  const own = activity.inputs?.item;
  return name === "CurrentValue" && typeof own === "string" && own ? own : name;
}

/** Targets for the outputs of an activity: variables in scope and outputs of the workflow. */
export function targetsFor(definition: Definition, catalogue: Catalogue, activityId: string): Name[] {
  const variables = namesFor(definition, catalogue, activityId).filter((name) => name.kind === "variable");
  const outputs = (definition.outputs ?? []).map(
    (output): Name => ({ name: output.name, kind: "output", type: output.type ?? "any", from: "workflow" }),
  );
  return [...variables, ...outputs];
}

/** Whether a name is declared anywhere in the document. */
export function isDeclared(definition: Definition, name: string): boolean {
  if ((definition.variables ?? []).some((item) => item.name === name)) return true;
  for (const place of placesOf(definition).values()) {
    if ((place.activity.variables ?? []).some((item) => item.name === name)) return true;
  }
  return false;
}

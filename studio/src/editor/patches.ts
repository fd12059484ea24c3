/**
 * Difference between two documents that share structure, as patches that can be applied in both directions.
 *
 * Where the keys of an object or the length of a list differ, the whole object or list is one patch. Undo therefore
 * restores
 * the order of keys too.
 */

import { isList, isObject, type Json, type Path, setAt } from "../model/json";

export interface Patch {
  readonly path: Path;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

export function patchesBetween(before: Json, after: Json): Patch[] {
  return [...compare(before, after, [])];
}

function* compare(before: Json | undefined, after: Json | undefined, path: Path): Generator<Patch> {
  if (Object.is(before, after)) return;
  if (isList(before) && isList(after) && before.length === after.length) {
    for (const [index, item] of before.entries()) yield* compare(item, after[index], [...path, index]);
  } else if (isObject(before) && isObject(after) && sameKeys(before, after)) {
    for (const key of Object.keys(before)) yield* compare(before[key], after[key], [...path, key]);
  } else yield { path, before, after };
}

function sameKeys(before: object, after: object): boolean {
  const keys = Object.keys(before);
  const others = Object.keys(after);
  return keys.length === others.length && keys.every((key, index) => key === others[index]);
}

export function forward<T extends Json>(document: T, patches: readonly Patch[]): T {
  return patches.reduce((now, patch) => setAt(now, patch.path, patch.after), document);
}

export function backward<T extends Json>(document: T, patches: readonly Patch[]): T {
  return patches.reduceRight((now, patch) => setAt(now, patch.path, patch.before), document);
}

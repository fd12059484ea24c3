/** JSON types, and operations that never modify their argument. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}
export type Path = readonly (string | number)[];

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

export function getAt(value: Json | undefined, path: Path): Json | undefined {
  let found: Json | undefined = value;
  for (const step of path) {
    if (isList(found) && typeof step === "number") found = found[step];
    else if (isObject(found)) found = found[String(step)];
    else return undefined;
  }
  return found;
}

/** Copy with another value at the path; `undefined` removes the key. Everything else is shared. */
export function setAt<T extends Json>(value: T, path: Path, next: Json | undefined): T {
  return replaceAt(value, path, 0, next) as T;
}

function replaceAt(value: Json | undefined, path: Path, depth: number, next: Json | undefined): Json | undefined {
  const step = path[depth];
  if (step === undefined) return next;
  if (typeof step === "number") {
    const list = isList(value) ? value : [];
    const inner = replaceAt(list[step], path, depth + 1, next);
    if (inner === undefined) return list.filter((_, index) => index !== step);
    return Object.is(inner, list[step]) ? list : list.toSpliced(step, 1, inner);
  }
  const object = isObject(value) ? value : {};
  const inner = replaceAt(object[step], path, depth + 1, next);
  if (Object.is(inner, object[step]) && (inner !== undefined || !(step in object))) return object;
  if (inner !== undefined) return { ...object, [step]: inner };
  const { [step]: _removed, ...rest } = object;
  return rest;
}

export function equal(left: Json | undefined, right: Json | undefined): boolean {
  if (Object.is(left, right)) return true;
  if (isList(left) && isList(right)) {
    return left.length === right.length && left.every((item, index) => equal(item, right[index]));
  }
  if (isObject(left) && isObject(right)) {
    const keys = Object.keys(left).filter((key) => left[key] !== undefined);
    const others = Object.keys(right).filter((key) => right[key] !== undefined);
    return keys.length === others.length && keys.every((key) => key in right && equal(left[key], right[key]));
  }
  return false;
}

/** `/root/activities/2`, as the server writes it. */
export function toPointer(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Numbers stay text: only the document decides whether a step is an index. */
export function fromPointer(pointer: string): string[] {
  if (!pointer.startsWith("/")) return [];
  return pointer
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

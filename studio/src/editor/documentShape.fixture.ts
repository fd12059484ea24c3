/** Checks a document against `holdfast/definition@1`, independently of the JSON Schema of the server. */

import { OWN_KEYS } from "../model/document";
import { isList, isObject, type Json } from "../model/json";

export function shapeErrors(document: Json): string[] {
  const faults: string[] = [];
  const report = (path: string, what: string): void => void faults.push(`${path}: ${what}`);
  if (!isObject(document)) return ["not an object"];
  if (JSON.stringify(JSON.parse(JSON.stringify(document))) !== JSON.stringify(document)) report("", "is not JSON");
  if (typeof document.id !== "string") report("/id", "text");
  for (const part of ["inputs", "outputs", "variables"]) records(document[part], `/${part}`, report);
  activity(document.root, "/root", report, new Set());
  return faults;
}

type Report = (path: string, what: string) => void;

function activity(value: Json | undefined, path: string, report: Report, ids: Set<string>): void {
  if (!isObject(value)) {
    report(path, "an activity");
    return;
  }
  const { type, id, name, inputs, outputs, options, metadata, connections } = value;
  if (typeof type !== "string" || !type) report(path, "a type");
  if (typeof id !== "string" || !id) report(path, "an id");
  else if (ids.has(id)) report(path, `the id ${id} is taken`);
  else ids.add(id);
  if (name !== undefined && typeof name !== "string") report(`${path}/name`, "text");
  for (const [key, part] of Object.entries({ inputs, outputs, options, metadata })) {
    if (part !== undefined && !isObject(part)) report(`${path}/${key}`, "an object");
  }
  if (isObject(outputs))
    for (const target of Object.values(outputs)) if (typeof target !== "string") report(`${path}/outputs`, "names");
  records(value.variables, `${path}/variables`, report);
  ports(value, path, report, ids);
  links(connections, value.activities, path, report);
}

function ports(value: Json, path: string, report: Report, ids: Set<string>): void {
  if (!isObject(value)) return;
  for (const [port, held] of Object.entries(value)) {
    if (OWN_KEYS.has(port)) continue;
    if (isObject(held)) activity(held, `${path}/${port}`, report, ids);
    else if (!isList(held) || !held.every(isObject)) report(`${path}/${port}`, "activities");
    else if (held.every((item) => isObject(item) && typeof item.type === "string")) {
      for (const [index, item] of held.entries()) activity(item, `${path}/${port}/${index}`, report, ids);
    }
  }
}

function links(connections: Json | undefined, activities: Json | undefined, path: string, report: Report): void {
  if (connections === undefined) return;
  if (!isList(connections)) {
    report(`${path}/connections`, "a list");
    return;
  }
  const known = new Set(isList(activities) ? activities.map((item) => (isObject(item) ? item.id : null)) : []);
  for (const [index, item] of connections.entries()) {
    const here = `${path}/connections/${index}`;
    if (!isObject(item)) report(here, "an object");
    else if (!known.has(item.from) || !known.has(item.to)) report(here, "known ends");
    else if (Object.keys(item).some((key) => !["from", "to", "outcome", "delay", "metadata"].includes(key)))
      report(here, "no other keys");
  }
}

function records(value: Json | undefined, path: string, report: Report): void {
  if (value === undefined) return;
  if (!isList(value) || !value.every((item) => isObject(item) && typeof item.name === "string"))
    report(path, "named records");
}

/** Whether a document has the shape of `holdfast/definition@1`: what is written down in the server's JSON Schema, by hand. */

import { OWN_KEYS } from "../model/document";
import { isList, isObject, type Json } from "../model/json";

export function faultsOf(document: Json): string[] {
  const faults: string[] = [];
  const say = (path: string, what: string): void => void faults.push(`${path}: ${what}`);
  if (!isObject(document)) return ["not an object"];
  if (JSON.stringify(JSON.parse(JSON.stringify(document))) !== JSON.stringify(document)) say("", "is no JSON");
  if (typeof document.id !== "string") say("/id", "text");
  for (const part of ["inputs", "outputs", "variables"]) records(document[part], `/${part}`, say);
  activity(document.root, "/root", say, new Set());
  return faults;
}

type Say = (path: string, what: string) => void;

function activity(value: Json | undefined, path: string, say: Say, ids: Set<string>): void {
  if (!isObject(value)) return say(path, "an activity");
  const { type, id, name, inputs, outputs, options, metadata, connections } = value;
  if (typeof type !== "string" || !type) say(path, "a type");
  if (typeof id !== "string" || !id) say(path, "an id");
  else if (ids.has(id)) say(path, `the id ${id} is taken`);
  else ids.add(id);
  if (name !== undefined && typeof name !== "string") say(`${path}/name`, "text");
  for (const [key, part] of Object.entries({ inputs, outputs, options, metadata })) {
    if (part !== undefined && !isObject(part)) say(`${path}/${key}`, "an object");
  }
  if (isObject(outputs))
    for (const target of Object.values(outputs)) if (typeof target !== "string") say(`${path}/outputs`, "names");
  records(value.variables, `${path}/variables`, say);
  ports(value, path, say, ids);
  links(connections, value.activities, path, say);
}

function ports(value: Json, path: string, say: Say, ids: Set<string>): void {
  if (!isObject(value)) return;
  for (const [port, held] of Object.entries(value)) {
    if (OWN_KEYS.has(port)) continue;
    if (isObject(held)) activity(held, `${path}/${port}`, say, ids);
    else if (!isList(held) || !held.every(isObject)) say(`${path}/${port}`, "activities");
    else if (held.every((item) => isObject(item) && typeof item.type === "string")) {
      for (const [index, item] of held.entries()) activity(item, `${path}/${port}/${index}`, say, ids);
    }
  }
}

function links(connections: Json | undefined, activities: Json | undefined, path: string, say: Say): void {
  if (connections === undefined) return;
  if (!isList(connections)) return say(`${path}/connections`, "a list");
  const known = new Set(isList(activities) ? activities.map((item) => (isObject(item) ? item.id : null)) : []);
  for (const [index, item] of connections.entries()) {
    const here = `${path}/connections/${index}`;
    if (!isObject(item)) say(here, "an object");
    else if (!known.has(item.from) || !known.has(item.to)) say(here, "known ends");
    else if (Object.keys(item).some((key) => !["from", "to", "outcome", "delay", "metadata"].includes(key)))
      say(here, "no other keys");
  }
}

function records(value: Json | undefined, path: string, say: Say): void {
  if (value === undefined) return;
  if (!isList(value) || !value.every((item) => isObject(item) && typeof item.name === "string"))
    say(path, "named records");
}

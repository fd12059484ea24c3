/** One-line summary on a card: `order.total > 1000`, `POST /orders`, `in 3 days`. */

import type { ActivityDescriptor } from "./descriptors";
import type { Activity } from "./document";
import { sayDuration } from "./durations";
import { readInput } from "./expressions";
import { isList, isObject, type Json } from "./json";

const LONGEST = 80;

/** Most informative inputs, best first, for types without a summarizer. */
const PREFERRED = [
  "condition",
  "expression",
  "event_name",
  "task_name",
  "title",
  "workflow",
  "cron",
  "interval",
  "duration",
  "at",
  "until",
  "url",
  "path",
  "subject",
  "to",
  "query",
  "text",
  "message",
  "items",
  "variable",
  "name",
  "value",
  "script",
  "source",
];

type Summarizer = (activity: Activity) => string;

const SUMMARIZERS: ReadonlyMap<string, Summarizer> = new Map<string, Summarizer>([
  ["Delay", (it) => `in ${duration(it, "duration")}`],
  ["Timer", (it) => `every ${duration(it, "interval")}`],
  ["SetVariable", (it) => `${show(it, "variable")} = ${show(it, "value") || "nothing"}`],
  ["SetOutput", (it) => `${show(it, "name")} = ${show(it, "value") || "nothing"}`],
  ["For", (it) => `${show(it, "start") || "0"} to ${show(it, "end") || "0"}`],
  ["ForEach", (it) => `each ${named(it)} of ${show(it, "items") || "nothing"}`],
  ["ParallelForEach", (it) => `each ${named(it)} of ${show(it, "items") || "nothing"}`],
  ["FlowJoin", (it) => (show(it, "mode") || "wait_any").replaceAll("_", " ")],
  ["FlowFork", (it) => list(it.inputs?.branches)],
  ["FlowSwitch", (it) => labels(it.cases)],
  ["Switch", (it) => labels(it.cases)],
  ["RunScript", (it) => firstLine(show(it, "script"))],
]);

const cache = new WeakMap<Activity, string>();

export function summaryOf(activity: Activity, descriptor: ActivityDescriptor | undefined): string {
  let line = cache.get(activity);
  if (line === undefined) {
    line = shorten(summarize(activity, descriptor));
    cache.set(activity, line);
  }
  return line;
}

function summarize(activity: Activity, descriptor: ActivityDescriptor | undefined): string {
  const own = SUMMARIZERS.get(activity.type);
  if (own !== undefined) return own(activity);
  const path = show(activity, "path");
  if (path && /endpoint/i.test(activity.type)) {
    return `${(list(activity.inputs?.supported_methods) || show(activity, "method") || "GET").toUpperCase()} ${path}`;
  }
  const url = show(activity, "url");
  if (url) return `${(show(activity, "method") || "GET").toUpperCase()} ${url}`;
  const names = [...PREFERRED, ...(descriptor?.inputs.map((input) => input.name) ?? [])];
  for (const name of names) {
    const value = show(activity, name);
    if (value) return firstLine(value);
  }
  return firstSet(activity);
}

function firstSet(activity: Activity): string {
  for (const name of Object.keys(activity.inputs ?? {})) {
    const value = show(activity, name);
    if (value) return firstLine(value);
  }
  return "";
}

function show(activity: Activity, name: string): string {
  return showValue(activity.inputs?.[name]);
}

/** Readable form of a value: no quotes around text, no wrapper around an expression. */
export function showValue(value: Json | undefined): string {
  const { source } = readInput(value);
  if (source === null || source === "") return "";
  if (typeof source === "string") {
    return /^P(?=.*\d)[\dWDTHMS.,]+$/.test(source) ? sayDuration(source) : source.trim();
  }
  if (isObject(source) && typeof source.$t === "string" && typeof source.v === "string") {
    return showValue(source.v);
  }
  return typeof source === "object" ? JSON.stringify(source) : String(source);
}

function duration(activity: Activity, name: string): string {
  const { language, source } = readInput(activity.inputs?.[name]);
  if (language === "literal" && typeof source === "string") return sayDuration(source);
  return showValue(activity.inputs?.[name]) || "…";
}

function named(activity: Activity): string {
  return show(activity, "item") || "item";
}

function list(value: Json | undefined): string {
  return isList(value) ? value.map((item) => String(item)).join(", ") : showValue(value);
}

function labels(cases: Json | undefined): string {
  if (!isList(cases)) return "";
  return cases
    .map((entry, index) => (isObject(entry) && typeof entry.label === "string" ? entry.label : `${index + 1}`))
    .join(" · ");
}

function firstLine(text: string): string {
  const line = text.split("\n").find((part) => part.trim() !== "");
  return line === undefined ? "" : line.trim();
}

function shorten(text: string): string {
  const flat = text.replace(/\s+/g, " ").trim();
  return flat.length > LONGEST ? `${flat.slice(0, LONGEST - 1)}…` : flat;
}

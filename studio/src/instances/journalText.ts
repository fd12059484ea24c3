/** Journal entries as text: event and reason. */
import type { JournalEntry } from "../api/types";
import { valueText } from "../ui/Value";
import { events } from "./instanceMessages";

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

type EventName = Parameters<typeof events>[0];

/** Title of an entry. A variable that an operator changed has a title of its own; an unknown event keeps its name. */
export function eventName({ event, data }: Pick<JournalEntry, "event" | "data">): string {
  const isChange = event === "operated" && isObject(data) && data.verb === "modify variable";
  return events((isChange ? "variable_changed" : event) as EventName) ?? event;
}

const pairs = (values: Record<string, unknown>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name} = ${valueText(value)}`)
    .join(", ");

/** Reason of an entry: the values it depended on, or the user who caused it. Null if there is none. */
export function reasonOf(entry: JournalEntry): string | null {
  const data = isObject(entry.data) ? entry.data : null;
  if (!data) return typeof entry.why === "string" ? entry.why : null;
  switch (entry.event) {
    case "decided":
      return decided(data);
    case "faulted":
    case "incident":
      return [data.type, data.message].filter(Boolean).join(": ");
    case "operated":
      return [data.verb, data.who && `by ${String(data.who)}`, data.why && `“${String(data.why)}”`]
        .filter(Boolean)
        .join(" ");
    case "suspended":
    case "resumed":
      return data.name && data.name !== entry.type ? String(data.name) : null;
    case "instance_started":
      return data.principal ? `by ${String(data.principal)}` : null;
    case "completed":
      return isObject(data.saw) ? decided(data) : Object.keys(data).length > 0 ? pairs(data) : null;
    default:
      return Object.keys(data).length > 0 ? pairs(data) : null;
  }
}

function decided(data: Record<string, unknown>): string {
  const { saw, ...rest } = data;
  const what = Object.entries(rest)
    .map(([name, value]) =>
      name === "answer" || name === "outcome" ? valueText(value) : `${name} ${valueText(value)}`,
    )
    .join(", ");
  return isObject(saw) && Object.keys(saw).length > 0 ? `${what} because ${pairs(saw)}` : what;
}

/** Result of a completed activity. */
export function resultOf(entry: JournalEntry): string | null {
  if (entry.event !== "completed" || entry.data === null || entry.data === undefined || isObject(entry.data))
    return null;
  return valueText(entry.data);
}

export const isProblem = (entry: JournalEntry): boolean =>
  ["faulted", "incident", "instance_faulted", "retry_scheduled", "taken_over", "result_dropped"].includes(entry.event);

/**
 * Time travel: state of the diagram and the variables after a given journal entry. It is limited to what the journal
 * records:
 * values may be shortened, and a variable that no entry mentions is unknown.
 */
import type { JournalEntry } from "../api/types";

export type ActivityStatus = "running" | "waiting" | "completed" | "faulted" | "canceled" | "skipped" | "compensated";

export type ActivityMark = {
  status: ActivityStatus;
  count: number;
  /** Last result or failure, shown as tooltip. */
  hint?: string;
};

export type Moment = {
  entry: JournalEntry | null;
  statuses: Record<string, ActivityMark>;
  variables: Record<string, unknown>;
  /** Activity of the last entry. */
  here: string | null;
};

export type VariableChange = { sequence: number; at: string; name: string; value: unknown; activity_id: string | null };

const MAX_HINT_LENGTH = 400;

const STATUS: Record<string, ActivityStatus> = {
  started: "running",
  resumed: "running",
  effect_recorded: "running",
  taken_over: "running",
  suspended: "waiting",
  waiting: "waiting",
  retry_scheduled: "waiting",
  completed: "completed",
  faulted: "faulted",
  incident: "faulted",
  canceled: "canceled",
  skipped: "skipped",
  compensated: "compensated",
};

export function momentAt(
  document: Record<string, unknown>,
  entries: readonly JournalEntry[],
  position: number,
): Moment {
  const statuses: Record<string, ActivityMark> = {};
  const variables = startOf(document);
  const writes = variableWrites(document);
  let entry: JournalEntry | null = null;
  for (const one of entries.slice(0, position)) {
    entry = one;
    mark(statuses, one);
    for (const [name, value] of changesIn(one, writes)) variables[name] = value;
  }
  return { entry, statuses, variables, here: entry?.activity_id ?? null };
}

function mark(statuses: Record<string, ActivityMark>, entry: JournalEntry): void {
  const status = STATUS[entry.event];
  if (!entry.activity_id || !status) return;
  const before = statuses[entry.activity_id];
  const ended = status === "completed";
  const hint = hintOf(entry) ?? before?.hint;
  statuses[entry.activity_id] = { status, count: (before?.count ?? 0) + (ended ? 1 : 0), ...(hint ? { hint } : {}) };
}

function hintOf(entry: JournalEntry): string | undefined {
  const { data } = entry;
  if (data === null || data === undefined) return undefined;
  if (entry.event === "completed") return `→ ${JSON.stringify(data)}`.slice(0, MAX_HINT_LENGTH);
  if ((entry.event === "faulted" || entry.event === "incident") && isObject(data))
    return String(data.message ?? "").slice(0, MAX_HINT_LENGTH);
  return undefined;
}

/** All variable changes recorded in the journal, in order. */
export function variableChanges(document: Record<string, unknown>, entries: readonly JournalEntry[]): VariableChange[] {
  const writes = variableWrites(document);
  const known: Record<string, string> = {};
  const changes: VariableChange[] = [];
  for (const entry of entries) {
    for (const [name, value] of changesIn(entry, writes)) {
      const text = JSON.stringify(value);
      if (known[name] === text) continue;
      known[name] = text;
      changes.push({ sequence: entry.sequence, at: entry.at, name, value, activity_id: entry.activity_id });
    }
  }
  return changes;
}

type Writes = { by: Record<string, { variable?: string; outputs: Record<string, string> }>; declared: Set<string> };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Variables written by each activity: SetVariable by its input, others by their bound outputs. */
function variableWrites(document: Record<string, unknown>): Writes {
  const writes: Writes = { by: {}, declared: new Set() };
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (isObject(value)) {
      const { id, type, inputs, outputs, variables } = value;
      if (Array.isArray(variables)) for (const one of variables.filter(isObject)) writes.declared.add(String(one.name));
      if (typeof id === "string" && typeof type === "string") {
        const name = isObject(inputs) ? inputs.variable : undefined;
        const bound = isObject(outputs)
          ? Object.entries(outputs).filter((pair): pair is [string, string] => typeof pair[1] === "string")
          : [];
        if (type === "SetVariable" && typeof name === "string") writes.by[id] = { variable: name, outputs: {} };
        else if (bound.length > 0) writes.by[id] = { outputs: Object.fromEntries(bound) };
      }
      Object.values(value).forEach(visit);
    }
  };
  visit(document);
  return writes;
}

function changesIn(entry: JournalEntry, writes: Writes): [string, unknown][] {
  const data = entry.data;
  // A condition records variables and inputs. Only variables can change.
  if (isObject(data) && isObject(data.saw))
    return Object.entries(data.saw).filter(([name]) => writes.declared.has(name));
  const write = entry.activity_id ? writes.by[entry.activity_id] : undefined;
  if (!write) return [];
  if (entry.event === "completed" && write.variable) return [[write.variable, data]];
  if (entry.event !== "completed" && entry.event !== "effect_result") return [];
  const outputs = isObject(data) && isObject(data.outputs) ? data.outputs : data;
  if (outputs === null || outputs === undefined) return [];
  return Object.entries(write.outputs).flatMap(([output, variable]): [string, unknown][] => {
    if (isObject(outputs) && output in outputs) return [[variable, outputs[output]]];
    return output === "result" ? [[variable, outputs]] : [];
  });
}

function startOf(document: Record<string, unknown>): Record<string, unknown> {
  const declared = Array.isArray(document.variables) ? document.variables.filter(isObject) : [];
  return Object.fromEntries(declared.filter((one) => "default" in one).map((one) => [String(one.name), one.default]));
}

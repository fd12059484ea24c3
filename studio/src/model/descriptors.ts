/** Descriptors of activity types, as the server sends them. */

import type { Activity } from "./document";
import { isList, isObject, type Json, type JsonObject } from "./json";

export interface InputDescriptor {
  readonly name: string;
  readonly type?: string | null;
  readonly schema?: JsonObject | null;
  readonly hint?: string | null;
  readonly editor?: string | null;
  readonly default?: Json;
  readonly required?: boolean;
  readonly category?: string | null;
  readonly display_name?: string | null;
  readonly description?: string | null;
  readonly options?: Json;
  readonly secret?: boolean;
  /** False: the activity evaluates the input itself, possibly several times (the condition of While). */
  readonly evaluated?: boolean;
  /** `{input: value}` or `{input: [values]}`: shown only while the other inputs have these values. */
  readonly shown_when?: JsonObject | null;
}

export interface OutputDescriptor {
  readonly name: string;
  readonly type?: string | null;
  readonly display_name?: string | null;
  readonly description?: string | null;
}

export interface PortDescriptor {
  readonly name: string;
  readonly kind?: "one" | "many" | "entries";
  readonly display_name?: string | null;
  readonly variables?: readonly string[];
}

export interface ActivityDescriptor {
  readonly type: string;
  readonly version?: number;
  readonly kind?: "pure" | "effect";
  readonly display_name?: string | null;
  readonly description?: string | null;
  readonly category?: string;
  readonly icon?: string | null;
  readonly inputs: readonly InputDescriptor[];
  readonly outputs: readonly OutputDescriptor[];
  readonly ports: readonly PortDescriptor[];
  readonly outcomes: readonly string[];
  readonly dynamic_outcomes?: boolean;
  readonly trigger?: boolean;
  readonly terminal?: boolean;
  readonly container?: boolean;
  readonly browsable?: boolean;
}

export class Catalogue {
  private readonly byType: ReadonlyMap<string, ActivityDescriptor>;

  constructor(readonly all: readonly ActivityDescriptor[] = []) {
    const map = new Map<string, ActivityDescriptor>();
    for (const item of all) {
      const known = map.get(item.type);
      if (known === undefined || (item.version ?? 1) >= (known.version ?? 1)) map.set(item.type, item);
    }
    this.byType = map;
  }

  get(type: string): ActivityDescriptor | undefined {
    return this.byType.get(type);
  }

  get isEmpty(): boolean {
    return this.byType.size === 0;
  }
}

/** Terminal types, which have no outgoing connections. Older servers do not send this flag. */
const TERMINAL: ReadonlySet<string> = new Set(["End", "Finish", "Fault", "Break", "Continue", "Return"]);

/** Outcomes of an activity in a flowchart. */
export function outcomesOf(activity: Activity, descriptor: ActivityDescriptor | undefined): string[] {
  if (descriptor?.terminal || TERMINAL.has(activity.type)) return [];
  const own = [...namedOutcomes(activity)];
  const fixed = (descriptor?.outcomes ?? ["Done"]).filter((name) => isExposed(activity, name));
  if (own.length === 0) return [...fixed];
  // Branches replace the default `Done`; labels of cases come before `Default`.
  const rest = descriptor?.dynamic_outcomes && fixed.length === 1 && fixed[0] === "Done" ? [] : fixed;
  return [...new Set([...own, ...rest])];
}

/** Outcomes of an endpoint that exist only if an input enables them. */
const EXPOSED: ReadonlyMap<string, string> = new Map([
  ["Request too large", "expose_request_too_large_outcome"],
  ["File too large", "expose_file_too_large_outcome"],
  ["Invalid file extension", "expose_invalid_file_extension_outcome"],
  ["Invalid file MIME type", "expose_invalid_file_mime_type_outcome"],
]);

function isExposed(activity: Activity, outcome: string): boolean {
  const input = activity.type === "HttpEndpoint" ? EXPOSED.get(outcome) : undefined;
  const enabled = input === undefined ? true : activity.inputs?.[input];
  return enabled !== undefined && enabled !== null && enabled !== false;
}

const LISTS: ReadonlyMap<string, string> = new Map([
  ["FlowFork", "branches"],
  ["RunScript", "outcomes"],
  ["RunJavaScript", "outcomes"],
  ["RunPython", "outcomes"],
]);

function* namedOutcomes(activity: Activity): Generator<string> {
  const list = LISTS.get(activity.type);
  const names = list === undefined ? undefined : activity.inputs?.[list];
  if (isList(names)) for (const name of names) if (typeof name === "string" && name) yield name;
  if (activity.type === "FlowSwitch" && isList(activity.cases)) {
    for (const entry of activity.cases) {
      if (isObject(entry) && typeof entry.label === "string" && entry.label) yield entry.label;
    }
  }
  if (activity.type === "HttpRequest" || activity.type === "SendHttpRequest") {
    const codes = activity.inputs?.expected_status_codes;
    if (isList(codes)) for (const code of codes) yield String(code);
  }
}

export function portTitle(port: PortDescriptor): string {
  return port.display_name ?? port.name;
}

export function kindOfPort(port: PortDescriptor): "one" | "many" | "entries" {
  return port.kind ?? "one";
}

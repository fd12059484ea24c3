/** Merges client-side and server-side problems into one list, and groups them by activity. */

import { type Activity, type Definition, placesOf } from "./document";
import { fromPointer, isList, isObject, type Json } from "./json";
import type { Problem } from "./validate";

export interface ServerProblem {
  readonly code: string;
  readonly path?: string | null;
  readonly message: string;
  readonly remedy?: string | null;
  readonly severity?: string | null;
  readonly activity_id?: string | null;
}

export interface ServerAnswer {
  /** The document that the server validated. */
  readonly document: Definition;
  readonly problems: readonly ServerProblem[];
}

/**
 * A server problem is valid as long as its activity is the same object in the document. For an activity edited since,
 * the
 * client-side rules apply until the server responds again.
 */
export function mergeProblems(definition: Definition, own: readonly Problem[], answer: ServerAnswer | null): Problem[] {
  if (answer === null) return [...own];
  const isCurrent = answer.document === definition;
  const before = placesOf(answer.document);
  const now = placesOf(definition);
  const serverProblems = answer.problems
    .map((problem) => fromServer(answer.document, problem))
    .filter(({ activityId }) =>
      activityId === null ? isCurrent : before.get(activityId)?.activity === now.get(activityId)?.activity,
    );
  if (isCurrent) return serverProblems;
  const keys = new Set(serverProblems.map(keyOf));
  return [...serverProblems, ...own.filter((problem) => !keys.has(keyOf(problem)))];
}

function keyOf(problem: Problem): string {
  return `${problem.activityId ?? ""} ${problem.code} ${problem.path}`;
}

export function fromServer(definition: Definition, problem: ServerProblem): Problem {
  const path = problem.path ?? "";
  return {
    code: problem.code,
    path,
    message: problem.message,
    remedy: problem.remedy ?? undefined,
    severity: problem.severity === "warning" ? "warning" : "error",
    activityId: problem.activity_id ?? activityAt(definition, path),
  };
}

/** The innermost activity on a path. For a connection: its source. */
export function activityAt(definition: Definition, pointer: string): string | null {
  let value: Json | undefined = definition;
  let found: string | null = null;
  for (const step of fromPointer(pointer)) {
    value = isList(value) ? value[Number(step)] : isObject(value) ? value[step] : undefined;
    if (!isObject(value)) continue;
    if (typeof value.type === "string" && typeof value.id === "string") found = (value as Activity).id;
    else if (typeof value.from === "string" && placesOf(definition).has(value.from)) found = value.from;
  }
  return found;
}

/** Whether the problem concerns this input or output of its activity, or a part of it. */
export function isAbout(problem: Problem, part: "inputs" | "outputs", name: string): boolean {
  return `${problem.path}/`.includes(`/${part}/${name}/`);
}

export type Worst = "error" | "warning";

export function worstByActivity(problems: readonly Problem[]): ReadonlyMap<string, Worst> {
  const worst = new Map<string, Worst>();
  for (const { activityId, severity } of problems) {
    if (activityId !== null && worst.get(activityId) !== "error") worst.set(activityId, severity);
  }
  return worst;
}

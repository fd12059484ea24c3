/**
 * Client-side validation while typing. These rules cover the most frequent problems without a request. The server is
 * authoritative (`/validate`).
 */

import { type Catalogue, type InputDescriptor, outcomesOf } from "./descriptors";
import { type Activity, type Connection, type Definition, type Place, walk } from "./document";
import { readInput } from "./expressions";
import { isList, type Path, toPointer } from "./json";
import { namesFor, targetsFor } from "./scope";

export interface Problem {
  readonly code: string;
  readonly path: string;
  readonly message: string;
  readonly remedy?: string | undefined;
  readonly severity: "error" | "warning";
  readonly activityId: string | null;
}

export function validate(definition: Definition, catalogue: Catalogue): Problem[] {
  const problems: Problem[] = [];
  const seen = new Map<string, Place>();
  for (const place of walk(definition)) {
    const report = reporter(problems, place);
    const first = seen.get(place.activity.id);
    if (first !== undefined) {
      report(
        "duplicate-id",
        ["id"],
        `The id “${place.activity.id}” is used more than once.`,
        "Give one of them another id.",
      );
    }
    seen.set(place.activity.id, first ?? place);
    checkActivity(definition, catalogue, place.activity, report);
    checkConnections(catalogue, place.activity, report);
  }
  checkDeclarations(definition, problems);
  return problems;
}

type Report = (
  code: string,
  path: Path,
  message: string,
  remedy?: string,
  severity?: "error" | "warning",
  activityId?: string,
) => void;

function reporter(problems: Problem[], place: Place): Report {
  return (code, path, message, remedy, severity = "error", activityId = place.activity.id) =>
    problems.push({ code, path: toPointer([...place.path, ...path]), message, remedy, severity, activityId });
}

function checkActivity(definition: Definition, catalogue: Catalogue, activity: Activity, report: Report): void {
  const descriptor = catalogue.get(activity.type);
  if (descriptor === undefined) {
    if (catalogue.isEmpty) return;
    report(
      "unknown-type",
      ["type"],
      `The server does not know the activity type “${activity.type}”.`,
      "Install the plugin that provides it, or replace the activity.",
    );
    return;
  }
  for (const input of descriptor.inputs) checkInput(definition, catalogue, activity, input, report);
  for (const [name, target] of Object.entries(activity.outputs ?? {})) {
    if (typeof target !== "string" || !target) continue;
    if (!targetsFor(definition, catalogue, activity.id).some((known) => known.name === target)) {
      report(
        "unknown-target",
        ["outputs", name],
        `“${target}” is not a variable in scope.`,
        "Declare it, or choose another variable.",
      );
    }
  }
}

function checkInput(
  definition: Definition,
  catalogue: Catalogue,
  activity: Activity,
  input: InputDescriptor,
  report: Report,
): void {
  const value = activity.inputs?.[input.name];
  const title = input.display_name ?? input.name;
  const path = ["inputs", input.name];
  const { language, source } = readInput(value);
  const isMissing = value === undefined || value === null || (language !== "literal" && source === "");
  if (isMissing) {
    if (input.required && (input.default === undefined || input.default === null)) {
      report("missing-input", path, `“${title}” is required.`, "Give a value or an expression.");
    }
    return;
  }
  if (language === "variable" || language === "input") {
    const kinds = language === "input" ? ["input"] : ["variable", "loop", "output", "input"];
    const names = [...namesFor(definition, catalogue, activity.id), ...targetsFor(definition, catalogue, activity.id)];
    if (!names.some((name) => name.name === source && kinds.includes(name.kind))) {
      report(
        `unknown-${language}`,
        path,
        `The ${language} “${String(source)}” is not in scope.`,
        "Declare it, or choose another name.",
      );
    }
  } else if (language === "literal") {
    const wrong = wrongLiteral(input, source);
    if (wrong !== null) report("invalid-literal", path, `“${title}”: ${wrong}`);
  }
}

function wrongLiteral(input: InputDescriptor, value: unknown): string | null {
  const schema = input.schema ?? {};
  const type = schema.type;
  if ((type === "integer" || type === "number") && typeof value !== "boolean") {
    const number = typeof value === "number" ? value : Number(value);
    if (Number.isNaN(number)) return "must be a number.";
    if (type === "integer" && !Number.isInteger(number)) return "must be a whole number.";
    const { minimum, maximum } = schema;
    if (typeof minimum === "number" && number < minimum) return `must be at least ${minimum}.`;
    if (typeof maximum === "number" && number > maximum) return `must be at most ${maximum}.`;
  }
  const choices = schema.enum;
  if (isList(choices) && !choices.includes(value as never)) return `must be one of ${choices.map(String).join(", ")}.`;
  return null;
}

function checkConnections(catalogue: Catalogue, chart: Activity, report: Report): void {
  if (!isList(chart.activities) || (chart.type !== "Flowchart" && chart.connections === undefined)) return;
  const children = new Map((chart.activities as unknown as Activity[]).map((child) => [child.id, child]));
  const connections = chart.connections ?? [];
  for (const [index, connection] of connections.entries()) {
    for (const end of ["from", "to"] as const) {
      if (!children.has(connection[end])) {
        report(
          "unknown-activity",
          ["connections", index, end],
          `The activity “${connection[end]}” does not exist in this flowchart.`,
          "Remove the connection.",
        );
      }
    }
    const source = children.get(connection.from);
    const descriptor = source && catalogue.get(source.type);
    if (source && descriptor && connection.outcome && !descriptor.dynamic_outcomes) {
      if (!outcomesOf(source, descriptor).includes(connection.outcome)) {
        report(
          "unknown-outcome",
          ["connections", index, "outcome"],
          `This activity has no outcome “${connection.outcome}”.`,
          "Choose another outcome.",
          "warning",
          source.id,
        );
      }
    }
  }
  checkReach(chart, children, catalogue, report);
}

function checkReach(chart: Activity, children: Map<string, Activity>, catalogue: Catalogue, report: Report): void {
  const connections = chart.connections ?? [];
  if (children.size < 2 || connections.length === 0) return;
  const entered = new Set(connections.map((connection) => connection.to));
  const all = [...children.values()];
  const named = chart.inputs?.start;
  const starts = all.filter(
    (child) => child.options?.can_start === true || child.type === "Start" || child.id === named,
  );
  const first = starts.length > 0 ? starts : all.filter((child) => !entered.has(child.id)).slice(0, 1);
  const reached = new Set((first.length > 0 ? first : all.slice(0, 1)).map((child) => child.id));
  const waiting = [...reached];
  const leaving = new Map<string, Connection[]>();
  for (const connection of connections)
    leaving.set(connection.from, [...(leaving.get(connection.from) ?? []), connection]);
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    for (const { to } of leaving.get(id) ?? []) {
      if (reached.has(to)) continue;
      reached.add(to);
      waiting.push(to);
    }
  }
  for (const [index, child] of all.entries()) {
    if (reached.has(child.id) || catalogue.get(child.type)?.trigger) continue;
    report(
      "unreachable",
      ["activities", index],
      "This activity cannot be reached from the start.",
      "Connect it, or remove it.",
      "warning",
      child.id,
    );
  }
}

function checkDeclarations(definition: Definition, problems: Problem[]): void {
  for (const part of ["inputs", "outputs", "variables"] as const) {
    const seen = new Set<string>();
    for (const [index, item] of (definition[part] ?? []).entries()) {
      const path = toPointer([part, index, "name"]);
      if (!item.name) {
        problems.push({
          code: "missing-name",
          path,
          message: "The name is missing.",
          severity: "error",
          activityId: null,
        });
      } else if (seen.has(item.name)) {
        problems.push({
          code: "duplicate-name",
          path,
          message: `“${item.name}” is declared twice.`,
          severity: "error",
          activityId: null,
        });
      }
      seen.add(item.name);
    }
  }
}

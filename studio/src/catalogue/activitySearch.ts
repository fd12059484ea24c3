/** Which activities a query finds, best first; without a query all, by category. */

import type { ActivityDescriptor, Catalogue } from "../model/descriptors";
import { scoreOf } from "../model/search";

/** Made by the compiler of plain Python, not by people. */
const HIDDEN_CATEGORIES: ReadonlySet<string> = new Set(["Code"]);

/** Words that people type for what we call something else. */
const SYNONYMS: Readonly<Record<string, string>> = {
  Delay: "wait sleep pause timeout",
  FlowDecision: "if condition branch",
  FlowSwitch: "case choose",
  FlowFork: "parallel split",
  FlowJoin: "merge wait all",
  WriteLine: "print console",
  SetVariable: "assign let",
  SendHttpRequest: "call api rest fetch get post",
  HttpEndpoint: "webhook trigger api",
  Event: "signal wait message",
  RunTask: "human approval user form",
  UserTask: "human approval user form",
  ExecuteWorkflow: "child call subworkflow",
  ForEach: "loop iterate",
  Timer: "every interval schedule",
  Cron: "schedule every",
};

export function browsable(catalogue: Catalogue): ActivityDescriptor[] {
  return catalogue.all.filter((item) => item.browsable !== false && !HIDDEN_CATEGORIES.has(item.category ?? ""));
}

export function findActivities(catalogue: Catalogue, query: string): ActivityDescriptor[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const all = browsable(catalogue);
  if (words.length === 0) return all.sort(byName);
  return all
    .map((item) => ({
      item,
      score: scoreOf(
        [
          item.display_name ?? item.type,
          item.type,
          SYNONYMS[item.type] ?? "",
          item.category ?? "",
          item.description ?? "",
        ],
        words,
      ),
    }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score || byName(left.item, right.item))
    .map(({ item }) => item);
}

function byName(left: ActivityDescriptor, right: ActivityDescriptor): number {
  return (left.display_name ?? left.type).localeCompare(right.display_name ?? right.type);
}

/** By category, categories in the order of the alphabet. */
export function grouped(items: readonly ActivityDescriptor[]): [string, ActivityDescriptor[]][] {
  const groups = new Map<string, ActivityDescriptor[]>();
  for (const item of items) {
    const category = item.category ?? "General";
    groups.set(category, [...(groups.get(category) ?? []), item]);
  }
  return [...groups].sort(([left], [right]) => left.localeCompare(right));
}

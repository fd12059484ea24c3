/** Search in a workflow by name, type, id and value, ranked. */

import type { Catalogue } from "./descriptors";
import { type Definition, type Place, titleOf, walk } from "./document";
import { summaryOf } from "./summary";

export interface Hit {
  readonly place: Place;
  readonly title: string;
  readonly detail: string;
  readonly score: number;
}

export function searchDocument(definition: Definition, catalogue: Catalogue, query: string, limit = 50): Hit[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const hits: Hit[] = [];
  for (const place of walk(definition)) {
    const { activity } = place;
    const descriptor = catalogue.get(activity.type);
    const title = titleOf(activity, descriptor?.display_name);
    const detail = summaryOf(activity, descriptor);
    const fields = [title, activity.id, activity.type, detail, JSON.stringify(activity.inputs ?? {})];
    const score = scoreOf(fields, words);
    if (score > 0) hits.push({ place, title, detail, score });
  }
  return hits.sort((left, right) => right.score - left.score).slice(0, limit);
}

/** Every word must match. Earlier fields and matches at the start of a word score higher. */
export function scoreOf(fields: readonly string[], words: readonly string[]): number {
  let total = 0;
  for (const word of words) {
    let best = 0;
    for (const [index, field] of fields.entries()) {
      const at = field.toLowerCase().indexOf(word);
      if (at < 0) continue;
      const isStart = at === 0 || /[^\p{L}\p{N}]/u.test(field[at - 1] ?? "");
      best = Math.max(best, (fields.length - index) * 10 + (at === 0 ? 6 : isStart ? 4 : 0));
    }
    if (best === 0) return 0;
    total += best;
  }
  return total;
}

/** Display names of activities: their own name, or the title of their type. */
import { useMemo } from "react";
import type { Catalogue } from "../model/descriptors";
import { type Definition, placesOf, titleOf } from "../model/document";
import { withIds } from "../model/ids";
import type { JsonObject } from "../model/json";
import { useCatalogue } from "./useCatalogue";

/** Reference to an activity: a journal entry, an incident or a bookmark. */
type ActivityReference = {
  readonly activity_id: string | null;
  readonly name?: string | null;
  readonly type?: string | null;
};

export interface ActivityNames {
  of(reference: ActivityReference | string | null): string;
  has(id: string): boolean;
  /** The id if other activities have the same name; empty otherwise. */
  mark(id: string | null): string;
}

export function activityNamesIn(document: Definition, catalogue: Catalogue): ActivityNames {
  const titles = new Map<string, string>();
  const uses = new Map<string, number>();
  for (const [id, { activity }] of placesOf(document)) {
    const title = titleOf(activity, catalogue.get(activity.type)?.display_name);
    titles.set(id, title);
    uses.set(title, (uses.get(title) ?? 0) + 1);
  }
  return {
    has: (id) => titles.has(id),
    of: (reference) => {
      if (reference === null) return "";
      if (typeof reference === "string") return titles.get(reference) ?? reference;
      const { activity_id: id, name, type } = reference;
      // Activities inside of a workflow used as an activity are not part of this document.
      return titles.get(id ?? "") ?? name ?? (type ? catalogue.get(type)?.display_name : null) ?? id ?? "";
    },
    mark: (id) => (id !== null && (uses.get(titles.get(id) ?? "") ?? 0) > 1 ? id : ""),
  };
}

export function useActivityNames(document: Record<string, unknown>): ActivityNames {
  const { catalogue } = useCatalogue();
  return useMemo(() => activityNamesIn(withIds(document as JsonObject), catalogue), [document, catalogue]);
}

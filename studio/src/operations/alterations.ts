/** What an alteration plan may do, as data: the wizard's forms and the request are both made of this. */
export type Draft = { type: AlterationType; variable: string; value: string; activity_id: string; version: string };

export type AlterationType = "modify_variable" | "cancel_activity" | "schedule_activity" | "migrate";

export const TYPES: readonly AlterationType[] = ["modify_variable", "cancel_activity", "schedule_activity", "migrate"];

export const newDraft = (): Draft => ({ type: "modify_variable", variable: "", value: "null", activity_id: "", version: "" });

/** The request's part for a draft; null when something is missing. */
export function written(draft: Draft): Record<string, unknown> | null {
  switch (draft.type) {
    case "modify_variable":
      if (!draft.variable) return null;
      try {
        return { type: draft.type, variable: draft.variable, value: JSON.parse(draft.value) as unknown };
      } catch {
        return null;
      }
    case "cancel_activity":
    case "schedule_activity":
      return draft.activity_id ? { type: draft.type, activity_id: draft.activity_id } : null;
    case "migrate":
      return /^\d+$/.test(draft.version) ? { type: draft.type, version: Number(draft.version) } : null;
  }
}

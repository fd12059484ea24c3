/** Alteration types, for the forms of the wizard and for the request. */
import { defineMessages } from "../i18n/messages";
import type { Tone } from "../ui";

const t = defineMessages("alteration", {
  modify_variable: "Set a variable",
  cancel_activity: "Cancel an activity",
  schedule_activity: "Run an activity",
  migrate: "Migrate to another version",
});

export type Draft = { type: AlterationType; variable: string; value: string; activity_id: string; version: string };

export type AlterationType = "modify_variable" | "cancel_activity" | "schedule_activity" | "migrate";

export const TYPES: readonly AlterationType[] = ["modify_variable", "cancel_activity", "schedule_activity", "migrate"];

/** Display name. A type unknown to this Studio keeps its own name. */
export const alterationName = (type: string): string =>
  TYPES.includes(type as AlterationType) ? t(type as AlterationType) : type.replaceAll("_", " ");

/** Tone of an outcome, of a dry run or of an execution. */
export const outcomeTone = (fate: string): Tone =>
  fate === "applies" || fate === "altered" ? "ok" : fate === "refused" || fate === "failed" ? "bad" : "wait";

export const newDraft = (): Draft => ({
  type: "modify_variable",
  variable: "",
  value: "null",
  activity_id: "",
  version: "",
});

/** Request body of a draft. Null if it is incomplete. */
export function toRequest(draft: Draft): Record<string, unknown> | null {
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

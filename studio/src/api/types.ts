/** Short names for the API types. `schema.ts` is generated from `openapi.json` (`npm run types`). */
import type { components } from "./schema";

type Schemas = components["schemas"];

/** Responses contain every field; only requests may omit optional ones. */
type Full<T> = T extends readonly (infer Item)[]
  ? Full<Item>[]
  : T extends object
    ? { [Key in keyof T]-?: Full<Exclude<T[Key], undefined>> }
    : T;

type Sent<Name extends keyof Schemas> = Full<Schemas[Name]>;

export type Page<T> = { items: T[]; total?: number | null; next: string | null; stale?: boolean; capped?: boolean };

export type Document = Record<string, unknown>;

export type Me = Sent<"Me">;
export type DefinitionSummary = Sent<"DefinitionSummary">;
export type DefinitionDetail = Sent<"DefinitionDetail">;
export type ExpiredEvent = Sent<"ExpiredStimulusItem">;
export type PublishResult = Sent<"PublishResult">;
export type DefinitionDiff = Sent<"DefinitionDiff">;
export type FieldChange = Sent<"FieldChange">;
export type Change = DefinitionDiff["activities"][number]["change"];
export type ImportedFile = Sent<"ImportedFile">;
export type BulkResult = Sent<"BulkResult">;
export type InstancesBulkResult = Sent<"InstancesBulkResult">;

export type InstanceItem = Sent<"InstanceItem">;
export type Status = InstanceItem["status"];
export type InstanceCounts = Sent<"InstanceCounts">;
export type InstanceDetail = Sent<"InstanceDetail">;
export type Bookmark = Sent<"BookmarkItem">;
export type Incident = Sent<"IncidentItem">;
export type JournalEntry = Sent<"JournalItem">;
export type MomentList = Sent<"MomentList">;
export type MomentDetail = Sent<"MomentDetail">;
export type ImportedInstance = Sent<"ImportedInstance">;
export type JournalPage = Sent<"JournalPage">;
export type ActivityTrialResult = Sent<"ActivityTrialResult">;
export type Execution = Sent<"ExecutionItem">;
export type ExecutionList = Sent<"ExecutionList">;
export type ExecuteResult = Sent<"ExecuteResult">;

export type Task = Sent<"TaskItem">;
export type Trigger = Sent<"TriggerItem">;
export type Schedule = Sent<"ScheduleItem">;
export type DeadLetter = Sent<"DeadLetterItem">;
export type NodeItem = Sent<"NodeItem">;
export type NodeList = Sent<"NodeList">;
export type Setting = Sent<"SettingItem">;
export type Alteration = Sent<"AlterationItem">;
export type Statistics = Sent<"Statistics">;
export type User = Sent<"UserItem">;
export type Role = Sent<"RoleItem">;
export type ApiKey = Sent<"KeyItem">;
export type CreatedKey = Sent<"MadeKey">;

export const STATUSES: readonly Status[] = [
  "running",
  "suspended",
  "faulted",
  "pending",
  "finished",
  "canceling",
  "canceled",
];

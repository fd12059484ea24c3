/** What the server sends, by the words of its schemas. `schema.ts` is generated from `openapi.json`; here the names are short. */
export type Page<T> = { items: T[]; total: number; next: string | null; stale?: boolean };

export type Document = Record<string, unknown> & { id: string };

export type Me = { id: string; name: string; roles: string[]; permissions: string[]; tenant?: string };

export type AuthInfo = { auth: "password" | "none"; version: string };

export type DefinitionSummary = {
  id: string;
  name: string;
  description: string | null;
  version: number;
  latest_version: number;
  published_version: number | null;
  is_published: boolean;
  has_draft: boolean;
  folder: string;
  labels: string[];
  origin: "api" | "code" | "file";
  updated: string;
  content_hash: string;
  activity_count?: number;
};

export type DefinitionDetail = { summary: DefinitionSummary; document: Document; etag: string };

export type PublishResult = { summary: DefinitionSummary; triggers: number; live_instances: number };

export type Change = "added" | "removed" | "changed" | "moved";

export type FieldChange = { path: string; before?: unknown; after?: unknown };

export type DefinitionDiff = {
  activities: { id: string; type: string; title: string; change: Change; fields: FieldChange[] }[];
  connections: { container: string; from: string; to: string; outcome: string | null; change: Change; fields: FieldChange[] }[];
  variables: DeclarationChange[];
  inputs: DeclarationChange[];
  outputs: DeclarationChange[];
  settings: FieldChange[];
};

export type DeclarationChange = { name: string; scope?: string | null; change: Change; fields: FieldChange[] };

export type ImportedFile = {
  file: string;
  ok: boolean;
  id: string | null;
  version: number | null;
  problems: { message: string; path?: string; severity?: string }[];
};

export type BulkResult = { done: string[]; failed: { id: string; code: string; message: string }[] };

export type Status = "pending" | "running" | "suspended" | "finished" | "faulted" | "canceled";

export const STATUSES: readonly Status[] = ["running", "suspended", "faulted", "pending", "finished", "canceled"];

export type InstanceItem = {
  id: string;
  definition_id: string;
  definition_name: string;
  definition_version: number;
  status: Status;
  correlation_id: string | null;
  name: string | null;
  parent_id: string | null;
  incidents: number;
  created: string;
  updated: string;
  finished: string | null;
  version: number;
};

export type InstanceCounts = { by_status: Partial<Record<Status, number>>; total: number };

export type Bookmark = {
  id: string;
  name: string;
  activity_id: string;
  kind?: string;
  payload: unknown;
  due: string | null;
  created: string | null;
  resume_url: string | null;
};

export type Incident = {
  id: string;
  type: string;
  message: string;
  at: string;
  open: boolean;
  activity_id: string | null;
  activity_type: string | null;
  activity_name: string | null;
  execution_id: number | null;
  attempt: number;
  source: string | null;
  inputs: Record<string, unknown>;
  details: Record<string, unknown>;
};

export type ActivityState = {
  execution_id: number;
  activity_id: string;
  type: string;
  status: string;
  attempt: number;
  waits_for: string;
};

export type InstanceDetail = InstanceItem & {
  state: {
    variables: Record<string, unknown>;
    inputs: Record<string, unknown>;
    outputs: Record<string, unknown>;
    activities: ActivityState[];
    bookmarks: Bookmark[];
    incidents: Incident[];
  };
  definition: { id: string; version: number; content: string };
  document: Document;
  waiting_for: string | null;
  position: number;
  unreadable: string | null;
};

export type JournalEntry = {
  sequence: number;
  version: number;
  at: string;
  event: string;
  activity_id: string | null;
  execution_id: number | null;
  attempt: number | null;
  name: string | null;
  type: string | null;
  why: unknown;
  data: unknown;
};

export type JournalPage = { entries: JournalEntry[]; next: number | null };

export type Execution = {
  execution_id: number | null;
  activity_id: string;
  type: string | null;
  name: string | null;
  status: string;
  attempt: number;
  inputs: unknown;
  outputs: unknown;
  outcome: unknown;
  started: string;
  ended: string | null;
  duration_ms: number | null;
  incident_id: string | null;
};

export type ExecutionList = { items: Execution[]; stats: Record<string, Record<string, number>>; next: number | null };

export type ExecuteResult = {
  instance_id: string;
  status: Status;
  outputs: Record<string, unknown>;
  incidents: Incident[];
  position: number;
};

export type Task = {
  id: string;
  title: string;
  description: string | null;
  assignee: string | null;
  role: string | null;
  state: "open" | "claimed" | "completed" | "canceled";
  form: Record<string, unknown> | null;
  due: string | null;
  created: string;
  instance_id: string;
  definition_id: string;
  activity_id: string;
  claimed_by: string | null;
  answer: unknown;
};

export type Trigger = {
  id: string;
  definition_id: string;
  definition_version: number;
  activity_id: string;
  type: string;
  payload: unknown;
};

export type Schedule = {
  id: string;
  definition_id: string;
  activity_id: string | null;
  kind: string | null;
  expression: string | null;
  zone: string | null;
  due: string | null;
  fired: string | null;
  paused: boolean;
};

export type DeadLetter = {
  id: string;
  kind: string;
  queue: string;
  instance_id: string | null;
  reason: string;
  died: string;
  created: string;
  attempts: number;
  error: unknown;
  payload: unknown;
};

export type NodeItem = {
  id: string;
  boot: number;
  worker: number;
  state: string;
  alive: boolean;
  this: boolean;
  started: string;
  heartbeat: string;
  details: Record<string, unknown>;
};

export type Setting = {
  name: string;
  variable: string;
  value: unknown;
  default: unknown;
  description: string;
  allowed: string;
  secret: boolean;
};

export type Alteration = {
  id: string;
  state: string;
  alterations: Record<string, unknown>[];
  total: number;
  done: number;
  failed: number;
  created: string | null;
  finished: string | null;
  who: string | null;
  why: string | null;
  results: Record<string, unknown>[];
};

export type Statistics = {
  range: string;
  begins: string;
  interval: "hour" | "day";
  throughput: { hour: string; started: number; finished: number; faulted: number }[];
  by_status: Partial<Record<Status, number>>;
  durations: { p50_ms: number | null; p95_ms: number | null; p99_ms: number | null; samples: number };
  by_definition: {
    definition_id: string;
    name: string;
    started: number;
    finished: number;
    faulted: number;
    incidents: number;
    p50_ms: number | null;
    p95_ms: number | null;
  }[];
  oldest_waiting: InstanceItem | null;
  stuck: number;
  incidents_open: number;
  dead_letters: number;
  work_ready: number;
  work_later: number;
  sampled: boolean;
  needs_attention: { kind: string; message: string; instance_id: string | null; definition_id: string | null; at: string | null }[];
};

export type User = { id: string; name: string; roles: string[]; created?: string | null; disabled?: boolean };

export type Role = { id: string; name?: string; permissions: string[]; builtin?: boolean };

export type ApiKey = { id: string; name: string; roles?: string[]; permissions?: string[]; created?: string | null; expires?: string | null };

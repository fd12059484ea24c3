import { defineMessages } from "../i18n/messages";

const t = defineMessages("status", {
  pending: "Pending",
  running: "Running",
  suspended: "Suspended",
  finished: "Finished",
  faulted: "Faulted",
  canceling: "Canceling",
  canceled: "Canceled",
  completed: "Completed",
  waiting: "Waiting",
  scheduled: "Scheduled",
  open: "Open",
  claimed: "Claimed",
});

export type Tone = "ok" | "run" | "wait" | "bad" | "off" | "accent";

const TONES: Record<string, Tone> = {
  running: "run",
  claimed: "run",
  suspended: "wait",
  canceling: "wait",
  waiting: "wait",
  open: "wait",
  finished: "ok",
  completed: "ok",
  faulted: "bad",
  failed: "bad",
};

export const toneOf = (status: string): Tone => TONES[status] ?? "off";

export const statusName = (status: string): string => {
  const known: Parameters<typeof t>[0][] = [
    "pending",
    "running",
    "suspended",
    "finished",
    "faulted",
    "canceling",
    "canceled",
    "completed",
    "waiting",
    "scheduled",
    "open",
    "claimed",
  ];
  const key = known.find((one) => one === status);
  return key ? t(key) : status;
};

export function StatusBadge({ status }: { status: string }) {
  return (
    <span className={`badge ${toneOf(status)}`}>
      <span className="dot" />
      {statusName(status)}
    </span>
  );
}

export function Badge({ tone = "off", children, title }: { tone?: Tone; children: React.ReactNode; title?: string }) {
  return (
    <span className={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}

/** Timestamps in local time with the exact UTC time as tooltip, and durations. */
const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["second", 60],
  ["minute", 60],
  ["hour", 24],
  ["day", 30],
  ["month", 12],
];

export function relative(at: Date, now = new Date()): string {
  const format = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "narrow" });
  let amount = (at.getTime() - now.getTime()) / 1000;
  if (Math.abs(amount) < 5) return format.format(0, "second");
  for (const [unit, size] of STEPS) {
    if (Math.abs(amount) < size) return format.format(Math.round(amount), unit);
    amount /= size;
  }
  return format.format(Math.round(amount), "year");
}

const local = (at: Date): string => at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });

const FORMATS = {
  /** Relative time. */
  ago: relative,
  moment: local,
  /** Time of day with milliseconds, for the order of journal entries. */
  clock: (at: Date) =>
    `${at.toLocaleTimeString(undefined, { hour12: false })}.${String(at.getMilliseconds()).padStart(3, "0")}`,
  day: (at: Date) => at.toLocaleDateString(undefined, { dateStyle: "medium" }),
} as const satisfies Record<string, (at: Date) => string>;

/** `2026-03-03 14:30:00.120 UTC` */
export const utc = (at: Date): string =>
  at
    .toISOString()
    .replace("T", " ")
    .replace(/(\.000)?Z$/, " UTC");

type TimestampProps = { at: string | null | undefined; as?: keyof typeof FORMATS; className?: string };

export function Timestamp({ at, as = "ago", className = "quiet" }: TimestampProps) {
  if (!at) return <span className="faint">–</span>;
  const date = new Date(at);
  return (
    <time
      dateTime={at}
      title={as === "moment" ? utc(date) : `${local(date)}\n${utc(date)}`}
      className={className}
      style={{ whiteSpace: "nowrap" }}
    >
      {FORMATS[as](date)}
    </time>
  );
}

export function duration(ms: number): string {
  if (ms < 1) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
  if (ms < 86_400_000) return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`;
  return `${Math.floor(ms / 86_400_000)} d ${Math.round((ms % 86_400_000) / 3_600_000)} h`;
}

/** Period filter of a list: time field, start and end. */

export const SPANS = ["hour", "day", "week", "today", "yesterday", "between"] as const;
export type Span = (typeof SPANS)[number];

export const TIMES = ["created", "updated", "finished"] as const;
export type TimeName = (typeof TIMES)[number];

const LENGTHS: Partial<Record<Span, number>> = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 };

type Period = {
  readonly span?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
};

/** Days start in the local time zone. `from` and `to` are values of a `datetime-local` field. */
export function boundsOf({ span, from, to }: Period, now: Date): { after?: string; before?: string } {
  const length = LENGTHS[span as Span];
  if (length !== undefined) return { after: new Date(now.getTime() - length).toISOString() };
  const day = (back: number): string => new Date(now.getFullYear(), now.getMonth(), now.getDate() - back).toISOString();
  if (span === "today") return { after: day(0) };
  if (span === "yesterday") return { after: day(1), before: day(0) };
  if (span !== "between") return {};
  return { ...valueText("after", from), ...valueText("before", to) };
}

function valueText(name: "after" | "before", text: string | undefined): { [key in typeof name]?: string } {
  const at = text ? new Date(text) : null;
  return at === null || Number.isNaN(at.getTime()) ? {} : { [name]: at.toISOString() };
}

/** Query parameters of the server: `created_after`, `finished_before`, … */
export function timesOf(
  name: string | undefined,
  { after, before }: { after?: string; before?: string },
): Record<string, string | undefined> {
  const by = TIMES.find((one) => one === name) ?? "created";
  return { [`${by}_after`]: after, [`${by}_before`]: before };
}

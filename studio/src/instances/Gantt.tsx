import { useMemo } from "react";
import type { JournalEntry } from "../api/types";
import type { ActivityNames } from "../catalogue/activityNames";
import { duration, ScrollRegion, toneOf } from "../ui";
import { t } from "./instanceMessages";
import "./gantt.css";

export type Span = { key: string; activity: string; name: string; start: number; end: number | null; status: string };

const ENDS: Record<string, string> = {
  completed: "completed",
  faulted: "faulted",
  canceled: "canceled",
  compensated: "completed",
};

/** Executions as time spans. An activity that has only a completion entry started and ended at the same time. */
export function spansOf(entries: readonly JournalEntry[], names: ActivityNames): Span[] {
  const spans = new Map<string, Span>();
  for (const entry of entries) {
    if (!entry.activity_id || entry.execution_id === null) continue;
    const key = `${entry.activity_id}/${entry.execution_id}`;
    const at = new Date(entry.at).getTime();
    const span = spans.get(key) ?? {
      key,
      activity: entry.activity_id,
      name: names.of(entry),
      start: at,
      end: null,
      status: "running",
    };
    const ended = ENDS[entry.event];
    if (ended) Object.assign(span, { end: at, status: ended });
    else if (entry.event === "suspended" || entry.event === "waiting") span.status = "waiting";
    else if (entry.event === "resumed") span.status = "running";
    spans.set(key, span);
  }
  return [...spans.values()];
}

type Props = {
  entries: readonly JournalEntry[];
  names: ActivityNames;
  ended: string | null;
  selected: string | null;
  onSelect: (activity: string) => void;
};

export function Gantt({ entries, names, ended, selected, onSelect }: Props) {
  const spans = useMemo(() => spansOf(entries, names), [entries, names]);
  if (spans.length === 0) return <p className="quiet gantt">{t("noJournal")}</p>;
  const begin = Math.min(...spans.map((span) => span.start));
  const last = ended ? new Date(ended).getTime() : Date.now();
  const end = Math.max(last, ...spans.map((span) => span.end ?? 0), begin + 1);
  const share = (at: number): string => `${((at - begin) / (end - begin)) * 100}%`;
  return (
    <ScrollRegion className="gantt" label={t("timeline")}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("activity")}</th>
            <th scope="col">{t("duration")}</th>
            <th scope="col">
              <span className="row">
                <span className="grow">0</span>
                {duration(end - begin)}
              </span>
            </th>
          </tr>
        </thead>
        <tbody>
          {spans.map((span) => (
            <tr key={span.key} style={span.activity === selected ? { background: "var(--accent-soft)" } : undefined}>
              <td title={span.activity}>{span.name}</td>
              <td className="faint small">{duration((span.end ?? end) - span.start)}</td>
              <td className="track">
                <button
                  type="button"
                  className={`bar ${toneOf(span.status)}`}
                  aria-label={`${span.name}: ${span.status}, ${duration((span.end ?? end) - span.start)}`}
                  style={{ left: share(span.start), width: `calc(${share(begin + (span.end ?? end) - span.start)})` }}
                  onClick={() => onSelect(span.activity)}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

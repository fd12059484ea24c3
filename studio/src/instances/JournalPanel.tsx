import { useEffect, useRef, useState } from "react";
import type { JournalEntry } from "../api/types";
import type { ActivityNames } from "../catalogue/activityNames";
import { Checkbox, Timestamp, type Tone } from "../ui";
import { t } from "./instanceMessages";
import { eventName, isProblem, reasonOf, resultOf } from "./journalText";
import "./journal.css";

type Props = {
  entries: readonly JournalEntry[];
  names: ActivityNames;
  at: number | null;
  selected: string | null;
  onSelect: (entry: JournalEntry) => void;
  onMoment: (at: number) => void;
};

const TONES: Record<string, Tone> = {
  completed: "ok",
  instance_finished: "ok",
  effect_result: "ok",
  started: "run",
  resumed: "run",
  instance_started: "run",
  instance_resumed: "run",
  effect_recorded: "run",
  decided: "run",
  suspended: "wait",
  waiting: "wait",
  retry_scheduled: "wait",
  instance_suspended: "wait",
  instance_canceling: "wait",
  faulted: "bad",
  incident: "bad",
  instance_faulted: "bad",
};

/** Journal entries with reasons. A click selects the activity and moves the diagram to that entry. */
export function JournalPanel({ entries, names, at, selected, onSelect, onMoment }: Props) {
  const [onlySelected, setOnlySelected] = useState(false);
  const [trouble, setTrouble] = useState(false);
  const here = useRef<HTMLButtonElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `here` refers to another entry after `at` has changed
  useEffect(() => {
    // `void`: newer browsers return a promise, which React would take for a clean-up function.
    void here.current?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const shown = entries
    .map((entry, index) => ({ entry, index }))
    .filter(({ entry }) => (!onlySelected || entry.activity_id === selected) && (!trouble || isProblem(entry)));
  return (
    <>
      <div className="row wrap" style={{ gap: 16 }}>
        <Checkbox label={t("onlyTrouble")} checked={trouble} onChange={(e) => setTrouble(e.target.checked)} />
        {selected ? (
          <Checkbox
            label={t("onlyThis", { name: names.of(selected) })}
            checked={onlySelected}
            onChange={(e) => setOnlySelected(e.target.checked)}
          />
        ) : null}
      </div>
      {shown.length === 0 ? <p className="quiet">{t("noJournal")}</p> : null}
      <ol className="journal">
        {shown.map(({ entry, index }) => (
          <li key={entry.sequence}>
            <button
              type="button"
              ref={at === index + 1 ? here : undefined}
              aria-current={at === index + 1}
              onClick={() => {
                onSelect(entry);
                onMoment(index + 1);
              }}
            >
              <span className={`mark ${TONES[entry.event] ?? ""}`} />
              <span className="what">
                {entry.activity_id ? <b className="clip">{names.of(entry)}</b> : null}
                {names.mark(entry.activity_id) ? (
                  <span className="faint small mono clip">{entry.activity_id}</span>
                ) : null}
                <span className={entry.activity_id ? "quiet event" : "event"}>{eventName(entry)}</span>
                {resultOf(entry) ? <span className="value clip">{resultOf(entry)}</span> : null}
              </span>
              <Timestamp at={entry.at} as="clock" className="time" />
              {reasonOf(entry) ? <span className="reason">{reasonOf(entry)}</span> : null}
            </button>
          </li>
        ))}
      </ol>
    </>
  );
}

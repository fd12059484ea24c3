import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { instances } from "../api/queries";
import type { Execution, InstanceDetail, JournalEntry } from "../api/types";
import type { ActivityNames } from "../catalogue/activityNames";
import { duration, Json, QueryView, SelectField, StatusBadge, Timestamp } from "../ui";
import { startedBy } from "./children";
import { childrenOf, InstanceRow } from "./HierarchyPanel";
import { t } from "./instanceMessages";
import { eventName, reasonOf } from "./journalText";

type Props = {
  detail: InstanceDetail;
  names: ActivityNames;
  activity: string | null;
  entries: readonly JournalEntry[];
};

/** One activity with its executions. The iterations of a loop are selectable. */
export function ActivityPanel({ detail, names, activity, entries }: Props) {
  const query = useQuery({ ...instances.executions(detail.id), enabled: activity !== null });
  if (!activity) return <p className="quiet">{t("choose")}</p>;
  return (
    <QueryView query={query}>
      {(list) => (
        <Executions
          key={activity}
          detail={detail}
          name={names.of(activity)}
          activity={activity}
          entries={entries}
          all={list.items.filter((one) => one.activity_id === activity)}
        />
      )}
    </QueryView>
  );
}

type ExecutionsProps = {
  detail: InstanceDetail;
  name: string;
  activity: string;
  all: readonly Execution[];
  entries: readonly JournalEntry[];
};

function Executions({ detail, name, activity, all, entries }: ExecutionsProps) {
  const [chosen, setChosen] = useState<number | null>(null);
  const at = Math.min(chosen ?? all.length - 1, all.length - 1);
  const one = all[at];
  return (
    <>
      <h2>
        {name} <span className="faint small mono">{activity}</span>
      </h2>
      {one ? (
        <>
          {all.length > 1 ? (
            <SelectField
              label={t("executions")}
              value={String(at)}
              onChange={(e) => setChosen(Number(e.target.value))}
              options={all.map((each, index) => ({
                value: String(index),
                label: `${t("iteration", { n: index + 1 })} · ${each.status}`,
              }))}
            />
          ) : null}
          <ExecutionDetails execution={one} />
          <Children detail={detail} execution={one} />
          <Entries
            entries={entries.filter(
              (entry) => entry.activity_id === activity && entry.execution_id === one.execution_id,
            )}
          />
        </>
      ) : (
        <p className="quiet">{t("never")}</p>
      )}
    </>
  );
}

function ExecutionDetails({ execution }: { execution: Execution }) {
  return (
    <>
      <dl className="facts">
        <dt>{t("status")}</dt>
        <dd>
          <StatusBadge status={execution.status} />
        </dd>
        <dt>{t("started")}</dt>
        <dd>
          <Timestamp at={execution.started} as="moment" />
        </dd>
        {execution.duration_ms !== null ? (
          <>
            <dt>{t("duration")}</dt>
            <dd>{duration(execution.duration_ms)}</dd>
          </>
        ) : null}
        {execution.attempt > 1 ? (
          <>
            <dt>{t("attempt", { n: "" })}</dt>
            <dd>{execution.attempt}</dd>
          </>
        ) : null}
        {execution.outcome ? (
          <>
            <dt>{t("outcome")}</dt>
            <dd>{String(execution.outcome)}</dd>
          </>
        ) : null}
      </dl>
      {hasValue(execution.inputs) ? (
        <div className="stack">
          <h3>{t("inputs")}</h3>
          <Json value={execution.inputs} label={t("inputs")} />
        </div>
      ) : null}
      {hasValue(execution.outputs) ? (
        <div className="stack">
          <h3>{t("outputs")}</h3>
          <Json value={execution.outputs} label={t("outputs")} />
        </div>
      ) : null}
    </>
  );
}

/** Instances started by this execution. */
function Children({ detail, execution }: { detail: InstanceDetail; execution: Execution }) {
  const query = useQuery(childrenOf(detail));
  const items = startedBy(detail.id, execution, query.data?.items ?? []);
  if (items.length === 0) return null;
  return (
    <div className="stack">
      <h3>{t("startedHere")}</h3>
      <ul className="family">
        {items.map((item) => (
          <li key={item.id}>
            <InstanceRow item={item} />
          </li>
        ))}
      </ul>
    </div>
  );
}

const hasValue = (value: unknown): boolean => value !== null && value !== undefined;

function Entries({ entries }: { entries: readonly JournalEntry[] }) {
  return (
    <div className="stack">
      <h3>{t("journal")}</h3>
      <ol className="stack small" style={{ listStyle: "none", gap: 4 }}>
        {entries.map((entry) => (
          <li key={entry.sequence}>
            <b>{eventName(entry)}</b> <Timestamp at={entry.at} /> <span className="quiet">{reasonOf(entry)}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}

import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { api } from "../api/client";
import { apiPath, instances, invalidate } from "../api/queries";
import { useCan } from "../api/session";
import type { InstanceDetail, JournalEntry } from "../api/types";
import type { ActivityNames } from "../catalogue/activityNames";
import { Button, Dialog, IconButton, TextArea, TextField, toast, Value } from "../ui";
import { InvalidJson, readJson } from "../ui/schema";
import { t } from "./instanceMessages";
import { type Moment, variableChanges } from "./timeTravel";
import "./journal.css";

type Props = {
  detail: InstanceDetail;
  names: ActivityNames;
  entries: readonly JournalEntry[];
  moment: Moment | null;
  onMoment: (at: number) => void;
};

export function VariablesPanel({ detail, names, entries, moment, onMoment }: Props) {
  const can = useCan();
  const [changed, setChanged] = useState<string | null>(null);
  const exact = useStoredVariables(detail.id, entries, moment);
  const variables = moment ? (exact ?? moment.variables) : detail.state.variables;
  const changes = useMemo(() => variableChanges(detail.document, entries), [detail.document, entries]);
  // A faulted instance can still be corrected and retried.
  const over = detail.status === "finished" || detail.status === "canceled";
  const alterable = !moment && can("instances:write") && !over;
  return (
    <>
      <Values
        title={t("variables")}
        values={variables}
        none={moment ? t("noVariablesThen") : t("noVariables")}
        onEdit={alterable ? setChanged : undefined}
      />
      {exact ? <p className="faint small">{t("thenExactly")}</p> : null}
      <Values title={t("inputs")} values={detail.state.inputs} />
      <Values title={t("outputs")} values={moment ? {} : detail.state.outputs} />
      <div className="stack">
        <h3>{t("changes")}</h3>
        {changes.length === 0 ? <p className="quiet">{t("noChanges")}</p> : null}
        <ol className="journal" style={{ marginBottom: 0 }}>
          {changes.map((change) => (
            <li key={`${change.sequence} ${change.name}`}>
              <button
                type="button"
                onClick={() => onMoment(entries.findIndex((one) => one.sequence === change.sequence) + 1)}
              >
                <span className="mark" />
                <span className="clip">
                  <b>{change.name}</b> = <Value value={change.value} max={80} />
                </span>
                <span className="time">{names.of(change.activity_id)}</span>
              </button>
            </li>
          ))}
        </ol>
      </div>
      {changed !== null ? <ChangeVariable detail={detail} name={changed} onClose={() => setChanged(null)} /> : null}
    </>
  );
}

/** With recorded history, the variables after a commit are exact and need not be derived from the journal. */
function useStoredVariables(
  id: string,
  entries: readonly JournalEntry[],
  moment: Moment | null,
): Record<string, unknown> | null {
  const entry = moment?.entry ?? null;
  const moments = useQuery({ ...instances.moments(id), enabled: entry !== null });
  const isLast =
    entry !== null && entries.findLast((one) => one.version === entry.version)?.sequence === entry.sequence;
  const version = isLast && moments.data?.items.some((one) => one.version === entry.version) ? entry.version : null;
  const stored = useQuery({ ...instances.moment(id, version ?? 0), enabled: version !== null });
  return version === null ? null : (stored.data?.state.variables ?? null);
}

type ValuesProps = {
  title: string;
  values: Record<string, unknown>;
  none?: string;
  onEdit?: ((name: string) => void) | undefined;
};

export function Values({ title, values, none, onEdit }: ValuesProps) {
  const names = Object.keys(values);
  if (names.length === 0 && !none) return null;
  return (
    <div className="stack">
      <h3>{title}</h3>
      {names.length === 0 ? <p className="quiet">{none}</p> : null}
      <dl className="facts">
        {names.map((name) => (
          <div key={name} style={{ display: "contents" }}>
            <dt className="mono">{name}</dt>
            <dd className="row" style={{ alignItems: "flex-start" }}>
              <span className="grow">
                <Value value={values[name]} max={400} />
              </span>
              {onEdit ? (
                <IconButton small icon="edit" label={t("setVariable", { name })} onClick={() => onEdit(name)} />
              ) : null}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function ChangeVariable({ detail, name, onClose }: { detail: InstanceDetail; name: string; onClose: () => void }) {
  const [text, setText] = useState(JSON.stringify(detail.state.variables[name], null, 2) ?? "null");
  const [why, setWhy] = useState("");
  const value = readJson(text);
  const bad = value instanceof InvalidJson ? t("badJson", { why: value.why }) : undefined;
  const save = async () => {
    if (bad) return;
    try {
      await api.patch(apiPath("instances", detail.id, "variables"), {
        variables: { [name]: value ?? null },
        ...(why ? { why } : {}),
      });
      await invalidate("instances");
      onClose();
    } catch (error) {
      toast.failed(error);
    }
  };
  return (
    <Dialog
      title={t("setVariable", { name })}
      onClose={onClose}
      onSubmit={() => void save()}
      foot={
        <Button type="submit" kind="primary" disabled={Boolean(bad)}>
          {t("save")}
        </Button>
      }
    >
      <TextArea
        label={t("value")}
        className="area mono"
        rows={6}
        value={text}
        problem={bad}
        onChange={(e) => setText(e.target.value)}
      />
      <TextField label={t("why")} hint={t("whyHint")} value={why} onChange={(e) => setWhy(e.target.value)} />
    </Dialog>
  );
}

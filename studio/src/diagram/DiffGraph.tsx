/** Two versions in one diagram: added is green, removed is red, changed is amber. */

import { useMemo, useState } from "react";
import { defineMessages } from "../i18n/messages";
import { type ActivityChange, connectionKey, diffDocuments } from "../model/diff";
import { type Activity, type Definition, placesOf } from "../model/document";
import { withIds } from "../model/ids";
import { isList, type Json, type JsonObject, setAt } from "../model/json";
import type { Mark } from "./flowElements";
import { GraphView } from "./GraphView";
import "./diff.css";

const t = defineMessages("diff", {
  same: "The versions are equivalent.",
  added: "added",
  removed: "removed",
  changed: "changed",
  moved: "moved",
  activities: "Activities",
  connections: "Connections",
  settings: "Settings and declarations",
});

export function DiffGraph({
  before: earlier,
  after: later,
}: {
  before: Record<string, unknown>;
  after: Record<string, unknown>;
}) {
  const before = useMemo(() => withIds(earlier as JsonObject), [earlier]);
  const after = useMemo(() => withIds(later as JsonObject), [later]);
  const diff = useMemo(() => diffDocuments(before, after), [before, after]);
  const both = useMemo(() => withRemoved(before, after), [before, after]);
  const [selected, setSelected] = useState<string | null>(null);
  const statuses = useMemo(
    () =>
      Object.fromEntries(
        diff.activities.map((change): [string, Mark] => [change.id, { status: change.change, hint: hintOf(change) }]),
      ),
    [diff],
  );
  const edgeMarks = useMemo(
    () =>
      Object.fromEntries(
        diff.connections.map((change) => [`${change.from}|${change.outcome ?? "Done"}|${change.to}`, change.change]),
      ),
    [diff],
  );
  const isSame = diff.activities.length + diff.connections.length + diff.fields.length === 0;
  return (
    <div className="hf-diff">
      <GraphView document={both} statuses={statuses} edgeMarks={edgeMarks} selected={selected} onSelect={setSelected} />
      <aside className="hf-diff-list">
        {isSame ? <p className="faint">{t("same")}</p> : null}
        {diff.activities.length > 0 ? <h3>{t("activities")}</h3> : null}
        {diff.activities.map((change) => (
          <button
            key={change.id}
            type="button"
            data-change={change.change}
            aria-pressed={change.id === selected}
            onClick={() => setSelected(change.id)}
          >
            <span className="row">
              <b className="grow clip">{change.title}</b>
              <span className="small">{t(change.change)}</span>
            </span>
            {change.fields.map((field) => (
              <span key={field.path} className="hf-field">
                <code>{field.path}</code>
                {field.before === undefined ? null : <del>{short(field.before)}</del>}
                {field.after === undefined ? null : <ins>{short(field.after)}</ins>}
              </span>
            ))}
          </button>
        ))}
        {diff.connections.length > 0 ? <h3>{t("connections")}</h3> : null}
        {diff.connections.map((change) => (
          <p key={connectionKey(change)} data-change={change.change} className="small">
            {change.from} → {change.to} {change.outcome ? `(${change.outcome}) ` : ""}
            {t(change.change)}
          </p>
        ))}
        {diff.fields.length > 0 ? <h3>{t("settings")}</h3> : null}
        {diff.fields.map((field) => (
          <span key={field.path} className="hf-field">
            <code>{field.path}</code>
            {field.before === undefined ? null : <del>{short(field.before)}</del>}
            {field.after === undefined ? null : <ins>{short(field.after)}</ins>}
          </span>
        ))}
      </aside>
    </div>
  );
}

function short(value: Json): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 159)}…` : text;
}

function hintOf(change: ActivityChange): string {
  return change.fields
    .map((field) => `${field.path}: ${short(field.before ?? null)} → ${short(field.after ?? null)}`)
    .join("\n");
}

/** The later document, with removed activities and connections put back. */
export function withRemoved(before: Definition, after: Definition): Definition {
  let both = after;
  const now = placesOf(after);
  for (const place of placesOf(before).values()) {
    const { activity, parent, port, index } = place;
    if (now.has(activity.id) || parent === null || index === null || place.key !== null) continue;
    const target = placesOf(both).get(parent);
    const held = target?.activity[port];
    if (target === undefined || !isList(held)) continue;
    both = setAt(
      both,
      [...target.path, port],
      held.toSpliced(Math.min(index, held.length), 0, withoutChildren(activity, now)),
    );
  }
  for (const { activity } of placesOf(before).values()) {
    const target = placesOf(both).get(activity.id);
    if (activity.connections === undefined || target === undefined) continue;
    const known = target.activity.connections ?? [];
    const gone = activity.connections.filter(
      (item) =>
        !known.some(
          (other) =>
            other.from === item.from && other.to === item.to && (other.outcome ?? "Done") === (item.outcome ?? "Done"),
        ),
    );
    if (gone.length > 0) both = setAt(both, [...target.path, "connections"], [...known, ...gone]);
  }
  return both;
}

/** Content of a removed container may have moved elsewhere; it is not shown twice. */
function withoutChildren(activity: Activity, now: ReadonlyMap<string, unknown>): Activity {
  return [...placesOf({ id: "", root: activity }).keys()].some((id) => now.has(id))
    ? {
        type: activity.type,
        id: activity.id,
        ...(activity.name ? { name: activity.name } : {}),
        ...(activity.inputs ? { inputs: activity.inputs } : {}),
        ...(activity.metadata ? { metadata: activity.metadata } : {}),
      }
    : activity;
}

/** Cases of a switch and catches of a try: entries with data beside their activities. */

import { defineMessages } from "../i18n/messages";
import type { Activity } from "../model/document";
import { entriesOf } from "../model/focus";
import { isList, type Json, type JsonObject } from "../model/json";
import type { Name } from "../model/scope";
import { Button, IconButton } from "../ui";
import { asText } from "./editors/compound";
import { InputEditor } from "./InputEditor";

const t = defineMessages("cases", {
  add: "Add a case",
  addCatch: "Add a catch",
  label: "Label",
  condition: "Condition",
  errors: "Error types, such as TimeoutError. Leave empty to catch all.",
  remove: "Remove",
  up: "Move up",
  none: "No cases yet. Each case becomes an outcome.",
});

const CONDITION = { name: "condition", type: "boolean", schema: { type: "boolean" }, display_name: t("condition") };

interface CasesProps {
  readonly activity: Activity;
  readonly names: readonly Name[];
  readonly readOnly: boolean;
  readonly onChange: (port: string, value: readonly JsonObject[]) => void;
}

export function CasesEditor({ activity, names, readOnly, onChange }: CasesProps) {
  const isTry = activity.type === "Try";
  const port = isTry ? "catches" : "cases";
  const entries = entriesOf(activity[port]);
  const set = (index: number, key: string, value: Json | undefined): void => {
    const { [key]: _old, ...rest } = entries[index] ?? {};
    onChange(port, entries.with(index, value === undefined ? rest : { ...entries[index], [key]: value }));
  };
  return (
    <>
      {entries.length === 0 && !isTry ? <p className="faint small">{t("none")}</p> : null}
      {entries.map((entry, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their position, and their content changes while it is typed
        <div key={index} className="hf-declaration">
          <div className="row">
            {isTry ? (
              <input
                className="input mono"
                aria-label={t("errors")}
                placeholder={t("errors")}
                value={isList(entry.errors) ? entry.errors.join(", ") : asText(entry.errors)}
                readOnly={readOnly}
                onChange={(event) => set(index, "errors", errorNames(event.target.value))}
              />
            ) : (
              <input
                className="input"
                aria-label={t("label")}
                placeholder={t("label")}
                value={asText(entry.label)}
                readOnly={readOnly}
                onChange={(event) => set(index, "label", event.target.value)}
              />
            )}
            {readOnly ? null : (
              <>
                <IconButton
                  small
                  icon="arrowUp"
                  label={t("up")}
                  disabled={index === 0}
                  onClick={() => onChange(port, swapped(entries, index))}
                />
                <IconButton
                  small
                  icon="trash"
                  label={t("remove")}
                  onClick={() => onChange(port, entries.toSpliced(index, 1))}
                />
              </>
            )}
          </div>
          {isTry ? null : (
            <InputEditor
              type={activity.type}
              input={CONDITION}
              value={entry.condition}
              names={names}
              problems={[]}
              readOnly={readOnly}
              onChange={(value) => set(index, "condition", value)}
            />
          )}
        </div>
      ))}
      {readOnly ? null : (
        <div>
          <Button
            small
            icon="add"
            onClick={() =>
              onChange(port, [
                ...entries,
                isTry ? { errors: [] } : { label: freeLabel(entries), condition: { $python: "" } },
              ])
            }
          >
            {t(isTry ? "addCatch" : "add")}
          </Button>
        </div>
      )}
    </>
  );
}

function errorNames(text: string): Json | undefined {
  const names = text.split(/[\s,]+/).filter(Boolean);
  return names.length > 0 ? names : undefined;
}

function swapped(entries: readonly JsonObject[], index: number): JsonObject[] {
  const [one, other] = [entries[index - 1], entries[index]];
  return one === undefined || other === undefined ? [...entries] : entries.with(index - 1, other).with(index, one);
}

function freeLabel(entries: readonly JsonObject[]): string {
  let number = entries.length + 1;
  while (entries.some((entry) => entry.label === `Case ${number}`)) number += 1;
  return `Case ${number}`;
}

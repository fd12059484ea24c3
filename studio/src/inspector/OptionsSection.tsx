/** Options of an activity: retry, timeout, queue, commit, journal and merge. */

import { useId } from "react";
import { defineMessages } from "../i18n/messages";
import type { ActivityDescriptor } from "../model/descriptors";
import type { Activity } from "../model/document";
import { isObject, type Json, type JsonObject } from "../model/json";
import { SelectField, Switch, TextField } from "../ui";
import type { EditorProps } from "./editorHints";
import { DurationEditor, NumberEditor } from "./editors/simple";
import { Section } from "./Section";

const t = defineMessages("options", {
  title: "Behaviour",
  canStart: "Starts the workflow",
  retry: "Retry when it fails",
  attempts: "Maximum attempts",
  delay: "Initial delay",
  factor: "Back-off factor",
  delayMax: "Maximum delay",
  timeout: "Timeout",
  onLost: "If the node crashes",
  onLostDefault: "Engine default",
  retryLost: "Retry",
  failLost: "Fail",
  holdLost: "Hold for an operator",
  queue: "Queue",
  queueHint: "Runs the activity on workers of this queue. Leave empty to run it inline.",
  merge: "Merge of incoming connections",
  mergeDefault: "Flowchart default",
  commit: "Commit",
  commitDefault: "Workflow default",
  journal: "Journal",
  journalDefault: "Workflow default",
  include: "Include values",
  exclude: "Exclude values",
  off: "No entries",
});

interface OptionsProps {
  readonly activity: Activity;
  readonly descriptor: ActivityDescriptor | undefined;
  readonly readOnly: boolean;
  readonly onChange: (name: string, value: Json | undefined) => void;
}

export function OptionsSection({ activity, descriptor, readOnly, onChange }: OptionsProps) {
  const options = activity.options ?? {};
  const retry = isObject(options.retry) ? options.retry : null;
  const journal = isObject(options.journal) ? options.journal.default : undefined;
  const isEffect = descriptor?.kind === "effect";
  const setRetry = (key: string, value: Json | undefined): void => onChange("retry", changed(retry ?? {}, key, value));
  return (
    <Section
      id="options"
      title={t("title")}
      count={Object.keys(options).length}
      open={Object.keys(options).length > 0 && descriptor?.trigger === true}
    >
      {descriptor?.trigger ? (
        <Switch
          label={t("canStart")}
          checked={options.can_start === true}
          disabled={readOnly}
          onChange={(event) => onChange("can_start", event.target.checked || undefined)}
        />
      ) : null}
      <Switch
        label={t("retry")}
        checked={retry !== null}
        disabled={readOnly}
        onChange={(event) => onChange("retry", event.target.checked ? { attempts: 3 } : undefined)}
      />
      {retry !== null ? (
        <div className="hf-declaration">
          <div className="hf-two-columns">
            <LabelledEditor
              label={t("attempts")}
              render={(props) => <NumberEditor {...props} schema={{ type: "integer", minimum: 1 }} placeholder="3" />}
              value={retry.attempts}
              readOnly={readOnly}
              onChange={(value) => setRetry("attempts", value)}
            />
            <LabelledEditor
              label={t("factor")}
              render={(props) => <NumberEditor {...props} schema={{ type: "number", minimum: 1 }} placeholder="2" />}
              value={retry.factor}
              readOnly={readOnly}
              onChange={(value) => setRetry("factor", value)}
            />
          </div>
          <LabelledEditor
            label={t("delay")}
            render={(props) => <DurationEditor {...props} />}
            value={retry.delay}
            readOnly={readOnly}
            onChange={(value) => setRetry("delay", value)}
          />
          <LabelledEditor
            label={t("delayMax")}
            render={(props) => <DurationEditor {...props} />}
            value={retry.delay_max}
            readOnly={readOnly}
            onChange={(value) => setRetry("delay_max", value)}
          />
        </div>
      ) : null}
      <LabelledEditor
        label={t("timeout")}
        render={(props) => <DurationEditor {...props} />}
        value={options.timeout}
        readOnly={readOnly}
        onChange={(value) => onChange("timeout", value)}
      />
      {isEffect ? (
        <>
          <Choice
            label={t("onLost")}
            value={options.on_lost}
            readOnly={readOnly}
            onChange={(value) => onChange("on_lost", value)}
            options={[
              ["", t("onLostDefault")],
              ["retry", t("retryLost")],
              ["fail", t("failLost")],
              ["hold", t("holdLost")],
            ]}
          />
          <TextField
            label={t("queue")}
            hint={t("queueHint")}
            value={text(options.queue)}
            readOnly={readOnly}
            onChange={(event) => onChange("queue", event.target.value || undefined)}
          />
        </>
      ) : null}
      <Choice
        label={t("commit")}
        value={options.commit}
        readOnly={readOnly}
        onChange={(value) => onChange("commit", value)}
        options={[
          ["", t("commitDefault")],
          ["always", "Always"],
          ["never", "Never"],
          ["executing", "Before execution"],
          ["executed", "After execution"],
        ]}
      />
      <Choice
        label={t("journal")}
        value={journal}
        readOnly={readOnly}
        onChange={(value) => onChange("journal", value === undefined ? undefined : { default: value })}
        options={[
          ["", t("journalDefault")],
          ["include", t("include")],
          ["exclude", t("exclude")],
          ["off", t("off")],
        ]}
      />
      <Choice
        label={t("merge")}
        value={options.merge}
        readOnly={readOnly}
        onChange={(value) => onChange("merge", value)}
        options={[
          ["", t("mergeDefault")],
          ["stream", "Stream"],
          ["merge", "Merge"],
          ["converge", "Converge"],
          ["cascade", "Cascade"],
          ["race", "Race"],
        ]}
      />
    </Section>
  );
}

function text(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function changed(object: JsonObject, key: string, value: Json | undefined): JsonObject {
  const { [key]: _old, ...rest } = object;
  return value === undefined ? rest : { ...object, [key]: value };
}

export function Choice({
  label,
  value,
  options,
  readOnly,
  onChange,
}: {
  label: string;
  value: Json | undefined;
  options: readonly (readonly [string, string])[];
  readOnly: boolean;
  onChange: (value: string | undefined) => void;
}) {
  const now = text(value);
  const known = options.some(([one]) => one === now) ? options : [...options, [now, now] as const];
  return (
    <SelectField
      label={label}
      value={now}
      disabled={readOnly}
      options={known.map(([one, shown]) => ({ value: one, label: shown }))}
      onChange={(event) => onChange(event.target.value || undefined)}
    />
  );
}

interface LabelledEditorProps {
  readonly label: string;
  readonly value: Json | undefined;
  readonly readOnly: boolean;
  readonly onChange: (value: Json | undefined) => void;
  readonly render: (props: EditorProps) => React.ReactNode;
}

/** A labelled value editor. */
export function LabelledEditor({ label, value, readOnly, onChange, render }: LabelledEditorProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {render({
        id,
        label,
        value: value ?? undefined,
        onChange,
        schema: {},
        options: [],
        placeholder: "",
        names: [],
        readOnly,
        invalid: false,
      })}
    </div>
  );
}

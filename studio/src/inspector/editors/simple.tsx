/** Editors of simple values. */

import { defineMessages } from "../../i18n/messages";
import { formatDuration, parseDuration, sayDuration } from "../../model/durations";
import type { EditorProps } from "../editorHints";
import { withoutNull } from "../editorHints";

const t = defineMessages("editors", {
  on: "On",
  off: "Off",
  choose: "Choose …",
  durationHint: "For example PT30S, P1DT2H or 00:00:30",
  days: "Days",
  hours: "Hours",
  minutes: "Minutes",
  seconds: "Seconds",
  secret: "Never written to journals or logs",
});

const text = (value: EditorProps["value"]): string =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);

export function TextEditor({ id, value, onChange, placeholder, readOnly, invalid, schema }: EditorProps) {
  const most = withoutNull(schema).maxLength;
  return (
    <input
      id={id}
      className="input"
      value={text(value)}
      placeholder={placeholder}
      readOnly={readOnly}
      aria-invalid={invalid || undefined}
      maxLength={typeof most === "number" ? most : undefined}
      onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value)}
    />
  );
}

export function MultilineEditor({ id, value, onChange, placeholder, readOnly, invalid }: EditorProps) {
  const shown = text(value);
  return (
    <textarea
      id={id}
      className="area"
      rows={Math.min(8, Math.max(1, shown.split("\n").length))}
      value={shown}
      placeholder={placeholder}
      readOnly={readOnly}
      aria-invalid={invalid || undefined}
      onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value)}
    />
  );
}

export function NumberEditor({ id, value, onChange, placeholder, readOnly, invalid, schema }: EditorProps) {
  const { type, minimum, maximum, multipleOf } = withoutNull(schema);
  return (
    <input
      id={id}
      className="input"
      type="number"
      inputMode={type === "integer" ? "numeric" : "decimal"}
      step={typeof multipleOf === "number" ? multipleOf : type === "integer" ? 1 : "any"}
      min={typeof minimum === "number" ? minimum : undefined}
      max={typeof maximum === "number" ? maximum : undefined}
      value={text(value)}
      placeholder={placeholder}
      readOnly={readOnly}
      aria-invalid={invalid || undefined}
      onChange={(event) => onChange(event.target.value === "" ? undefined : Number(event.target.value))}
    />
  );
}

export function SwitchEditor({ id, value, onChange, readOnly, label, placeholder }: EditorProps) {
  const isOn = value === undefined || value === null ? placeholder === "true" : value === true || value === "true";
  return (
    <label className="check">
      <input
        id={id}
        type="checkbox"
        role="switch"
        aria-checked={isOn}
        className="switch"
        aria-label={label}
        checked={isOn}
        disabled={readOnly}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span className="small quiet">{isOn ? t("on") : t("off")}</span>
    </label>
  );
}

export function OptionsEditor({ id, value, onChange, options, readOnly, placeholder }: EditorProps) {
  const now = value === undefined ? "" : JSON.stringify(value);
  // The default option is listed once: as the empty choice, or as the value that the document names.
  const isDefault = (option: EditorProps["value"]): boolean => placeholder !== "" && text(option) === placeholder;
  const listed = options.filter((option) => !isDefault(option) || JSON.stringify(option) === now);
  const known = listed.map((option) => JSON.stringify(option));
  const namesDefault = listed.some(isDefault);
  return (
    <select
      id={id}
      className="select"
      value={now}
      disabled={readOnly}
      onChange={(event) => onChange(event.target.value === "" ? undefined : JSON.parse(event.target.value))}
    >
      {namesDefault ? null : <option value="">{placeholder ? humanize(placeholder) : t("choose")}</option>}
      {now !== "" && !known.includes(now) ? <option value={now}>{text(value)}</option> : null}
      {listed.map((option, index) => (
        <option key={known[index]} value={known[index]}>
          {humanize(text(option))}
        </option>
      ))}
    </select>
  );
}

function humanize(name: string): string {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Several of a few options. */
export function ChoicesEditor({ value, onChange, options, readOnly, label }: EditorProps) {
  const chosen = Array.isArray(value) ? value.map((item) => JSON.stringify(item)) : [];
  return (
    <fieldset aria-label={label} className="stack">
      {options.map((option) => {
        const key = JSON.stringify(option);
        return (
          <label key={key} className="check">
            <input
              type="checkbox"
              checked={chosen.includes(key)}
              disabled={readOnly}
              onChange={(event) => {
                const next = options.filter((item) =>
                  JSON.stringify(item) === key ? event.target.checked : chosen.includes(JSON.stringify(item)),
                );
                onChange(next.length > 0 ? next : undefined);
              }}
            />
            {humanize(text(option))}
          </label>
        );
      })}
    </fieldset>
  );
}

/** The document stores UTC; the user edits local time. */
export function DateTimeEditor({ id, value, onChange, readOnly, invalid }: EditorProps) {
  const at = typeof value === "string" ? new Date(value) : null;
  const shown =
    at !== null && !Number.isNaN(at.getTime())
      ? new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
      : "";
  return (
    <input
      id={id}
      className="input"
      type="datetime-local"
      value={shown}
      readOnly={readOnly}
      aria-invalid={invalid || undefined}
      onChange={(event) => onChange(event.target.value === "" ? undefined : new Date(event.target.value).toISOString())}
    />
  );
}

export function DateEditor({ id, value, onChange, readOnly, invalid }: EditorProps) {
  return (
    <input
      id={id}
      className="input"
      type="date"
      value={text(value).slice(0, 10)}
      readOnly={readOnly}
      aria-invalid={invalid || undefined}
      onChange={(event) => onChange(event.target.value || undefined)}
    />
  );
}

const UNITS = ["days", "hours", "minutes", "seconds"] as const;

export function DurationEditor({ id, value, onChange, readOnly, label, invalid }: EditorProps) {
  const raw = text(value);
  const length = parseDuration(raw);
  const isOther = raw !== "" && length === null;
  return (
    <div className="stack">
      <fieldset className="hf-duration" aria-label={label}>
        {UNITS.map((unit, index) => (
          <label key={unit}>
            <input
              id={index === 0 ? id : undefined}
              className="input"
              type="number"
              min={0}
              placeholder="0"
              readOnly={readOnly}
              aria-invalid={invalid || undefined}
              value={length === null || length[unit] === 0 ? "" : length[unit]}
              onChange={(event) => {
                const next = {
                  days: 0,
                  hours: 0,
                  minutes: 0,
                  seconds: 0,
                  ...length,
                  [unit]: Math.max(0, Number(event.target.value) || 0),
                };
                onChange(UNITS.some((name) => next[name] > 0) ? formatDuration(next) : undefined);
              }}
            />
            <span>{t(unit)}</span>
          </label>
        ))}
      </fieldset>
      {isOther ? <TextEditor {...textEditorProps(id, label, value, onChange, readOnly)} /> : null}
      {raw === "" ? null : <p className="hint faint small">{isOther ? t("durationHint") : sayDuration(raw)}</p>}
    </div>
  );
}

function textEditorProps(
  id: string,
  label: string,
  value: EditorProps["value"],
  onChange: EditorProps["onChange"],
  readOnly: boolean,
): EditorProps {
  return {
    id: `${id}-text`,
    label,
    value,
    onChange,
    schema: {},
    options: [],
    placeholder: "",
    names: [],
    readOnly,
    invalid: true,
  };
}

export function SecretEditor({ id, value, onChange, readOnly, placeholder }: EditorProps) {
  return (
    <div className="stack">
      <input
        id={id}
        className="input"
        type="password"
        autoComplete="new-password"
        value={text(value)}
        placeholder={placeholder}
        readOnly={readOnly}
        onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value)}
      />
      <p className="faint small">{t("secret")}</p>
    </div>
  );
}

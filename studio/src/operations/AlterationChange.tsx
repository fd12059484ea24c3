/** Form for one alteration of a plan, with suggestions. */

import { useQuery } from "@tanstack/react-query";
import { useId, useMemo } from "react";
import { definitions, instances } from "../api/queries";
import type { DefinitionSummary } from "../api/types";
import { defineMessages } from "../i18n/messages";
import { type Definition, placesOf } from "../model/document";
import { IconButton, SelectField, TextField } from "../ui";
import { type AlterationType, alterationName, type Draft, TYPES } from "./alterations";

const t = defineMessages("change", {
  type: "Change",
  choose: "Choose …",
  variable: "Variable",
  value: "Value (JSON)",
  activity: "Activity id",
  version: "Version",
  published: "v{n} (published)",
  draft: "v{n} (draft)",
  earlier: "v{n}",
  remove: "Remove this change",
});

export interface Suggestions {
  /** Null if the versions are unknown; then a number is entered. */
  readonly versions: readonly DefinitionSummary[] | null;
  readonly variables: readonly string[];
  /** Ids with their display names. */
  readonly activities: readonly (readonly [string, string])[];
}

/** Suggestions from the chosen definition or, for given instance ids, from the first instance. */
export function useSuggestions(definition: string, instance: string | undefined): Suggestions {
  const first = useQuery({ ...instances.one(instance ?? ""), enabled: instance !== undefined, retry: false });
  const id = instance === undefined ? definition : (first.data?.definition_id ?? "");
  const latest = useQuery({ ...definitions.one(id), enabled: id !== "" && instance === undefined, retry: false });
  const versionList = useQuery({ ...definitions.versions(id), enabled: id !== "", retry: false });
  const versions = first.isError || versionList.isError ? null : versionList.data?.items;
  const document = (instance === undefined ? latest.data?.document : first.data?.document) as
    | Definition
    | null
    | undefined;
  return useMemo(
    () => ({
      versions: versions === undefined ? [] : versions,
      variables: (document?.variables ?? []).map((one) => one.name),
      activities: document
        ? [...placesOf(document)].map(([name, place]) => [name, place.activity.name ?? place.activity.type] as const)
        : [],
    }),
    [versions, document],
  );
}

type Props = {
  draft: Draft;
  suggestions: Suggestions;
  onChange: (draft: Draft) => void;
  onRemove: (() => void) | null;
};

export function AlterationForm({ draft, suggestions, onChange, onRemove }: Props) {
  const id = useId();
  return (
    <div className="form-group">
      <div className="row" style={{ alignItems: "flex-end" }}>
        <div className="grow">
          <SelectField
            label={t("type")}
            value={draft.type}
            onChange={(e) => onChange({ ...draft, type: e.target.value as AlterationType })}
            options={TYPES.map((one) => ({ value: one, label: alterationName(one) }))}
          />
        </div>
        {onRemove ? <IconButton label={t("remove")} icon="trash" onClick={onRemove} /> : null}
      </div>
      {draft.type === "modify_variable" ? (
        <>
          <TextField
            label={t("variable")}
            list={`${id}-variables`}
            value={draft.variable}
            onChange={(e) => onChange({ ...draft, variable: e.target.value })}
          />
          <Names id={`${id}-variables`} names={suggestions.variables.map((name) => [name, name])} />
          <TextField
            label={t("value")}
            className="input mono"
            value={draft.value}
            onChange={(e) => onChange({ ...draft, value: e.target.value })}
          />
        </>
      ) : null}
      {draft.type === "cancel_activity" || draft.type === "schedule_activity" ? (
        <>
          <TextField
            label={t("activity")}
            list={`${id}-activities`}
            value={draft.activity_id}
            onChange={(e) => onChange({ ...draft, activity_id: e.target.value })}
          />
          <Names id={`${id}-activities`} names={suggestions.activities} />
        </>
      ) : null}
      {draft.type === "migrate" ? (
        <Version
          versions={suggestions.versions}
          value={draft.version}
          onChange={(version) => onChange({ ...draft, version })}
        />
      ) : null}
    </div>
  );
}

function Version({
  versions,
  value,
  onChange,
}: {
  versions: Suggestions["versions"];
  value: string;
  onChange: (version: string) => void;
}) {
  if (versions === null)
    return (
      <TextField label={t("version")} type="number" min={1} value={value} onChange={(e) => onChange(e.target.value)} />
    );
  const say = (one: DefinitionSummary) =>
    t(one.is_published ? "published" : one.version > (one.published_version ?? 0) ? "draft" : "earlier", {
      n: one.version,
    });
  return (
    <SelectField
      label={t("version")}
      value={value}
      onChange={(e) => onChange(e.target.value)}
      options={[
        { value: "", label: t("choose") },
        ...versions.map((one) => ({ value: String(one.version), label: say(one) })),
      ]}
    />
  );
}

function Names({ id, names }: { id: string; names: readonly (readonly [string, string])[] }) {
  return (
    <datalist id={id}>
      {names.map(([value, label]) => (
        <option key={value} value={value} label={label === value ? undefined : label} />
      ))}
    </datalist>
  );
}

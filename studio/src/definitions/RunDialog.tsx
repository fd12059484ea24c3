import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { api } from "../api/client";
import { apiPath, definitions, invalidate } from "../api/queries";
import type { Document, ExecuteResult } from "../api/types";
import { useCatalogue } from "../catalogue/useCatalogue";
import { defineMessages } from "../i18n/messages";
import {
  Button,
  Dialog,
  problems,
  QueryView,
  type Schema,
  SchemaForm,
  Segments,
  SelectField,
  startOf,
  TextField,
  toast,
} from "../ui";
import { inputSchema, startsOf } from "./inputs";

const t = defineMessages("run", {
  title: "Run {name}",
  which: "Version",
  published: "Published v{n}",
  draft: "Draft v{n}",
  saysPublished: "Runs v{n}, the version that triggers and API calls use.",
  saysDraft: "Runs v{n}, an unpublished draft.",
  noInputs: "This workflow declares no inputs.",
  correlation: "Correlation id",
  correlationHint: "Optional. Events and other instances use it to find this instance.",
  startAt: "Start at",
  fromTheStart: "From the start",
  run: "Run",
  background: "Run in background",
  started: "Started {id}",
  watch: "Open",
});

type RunProps = {
  id: string /** Current document of the canvas, if it differs from the saved one. */;
  document?: Document;
  onClose: () => void;
};

/** Starts an instance and names its version. The form is prefilled with the values of the last run. */
export function RunDialog({ id, document, onClose }: RunProps) {
  const latest = useQuery(definitions.one(id));
  return (
    <QueryView query={latest}>
      {(detail) => (
        <RunForm
          id={id}
          name={detail.summary.name || id}
          document={document ?? detail.document}
          latest={detail.summary.latest_version}
          published={detail.summary.published_version}
          draft={detail.summary.has_draft || detail.summary.published_version === null}
          onClose={onClose}
        />
      )}
    </QueryView>
  );
}

type FormProps = {
  id: string;
  name: string;
  document: Document;
  latest: number;
  published: number | null;
  draft: boolean;
  onClose: () => void;
};

type LastRun = { input?: Record<string, unknown>; correlation?: string };

function RunForm({ id, name, document, latest, published, draft, onClose }: FormProps) {
  const navigate = useNavigate();
  const [which, setWhich] = useState<"published" | "latest">(published !== null && !draft ? "published" : "latest");
  const pinned = useQuery({
    ...definitions.one(id, "published"),
    enabled: which === "published" && draft && published !== null,
  });
  const source = which === "published" && pinned.data ? pinned.data.document : document;
  const schema = useMemo<Schema>(() => inputSchema(source), [source]);
  const { catalogue: known } = useCatalogue();
  const starts = useMemo(() => startsOf(source, (type) => known.get(type)?.display_name ?? undefined), [source, known]);
  const before = useMemo(() => lastRunOf(id), [id]);
  const [value, setValue] = useState<Record<string, unknown>>({ ...startOf(schema), ...before.input });
  const [correlation, setCorrelation] = useState(before.correlation ?? "");
  const [startAt, setStartAt] = useState("");
  const [shown, setShown] = useState<Record<string, string>>({});
  const [busy, setBusy] = useState(false);
  const version = which === "published" ? (published ?? latest) : latest;

  const send = async (wait: boolean) => {
    const known = Object.fromEntries(
      Object.entries(value).filter(([key, one]) => key in (schema.properties ?? {}) && one !== undefined),
    );
    const wrong = problems(schema, known, true);
    setShown(wrong);
    if (Object.keys(wrong).length > 0) return;
    setBusy(true);
    sessionStorage.setItem(`holdfast.run.${id}`, JSON.stringify({ input: known, correlation }));
    const body = {
      input: known,
      version: which,
      ...(correlation ? { correlation_id: correlation } : {}),
      ...(startAt ? { start_at: startAt } : {}),
    };
    try {
      const instance = wait
        ? (await api.post<ExecuteResult>(apiPath("definitions", id, "execute"), body)).instance_id
        : (await api.post<{ instance_ids: string[] }>(apiPath("definitions", id, "dispatch"), body)).instance_ids[0];
      await invalidate("instances");
      onClose();
      const watch = () => void navigate({ to: "/instances/$id", params: { id: instance ?? "" } });
      if (wait && instance) watch();
      else toast.done(t("started", { id: instance ?? "" }), { label: t("watch"), run: watch });
    } catch (error) {
      toast.failed(error);
      setBusy(false);
    }
  };

  return (
    <Dialog
      title={t("title", { name })}
      onClose={onClose}
      onSubmit={() => void send(true)}
      foot={
        <>
          <Button disabled={busy} onClick={() => void send(false)}>
            {t("background")}
          </Button>
          <Button type="submit" kind="primary" icon="play" busy={busy}>
            {t("run")}
          </Button>
        </>
      }
    >
      <div className="stack">
        {published !== null && draft ? (
          <Segments
            label={t("which")}
            value={which}
            options={[
              { id: "published", label: t("published", { n: published }) },
              { id: "latest", label: t("draft", { n: latest }) },
            ]}
            onChange={setWhich}
          />
        ) : null}
        <p className="quiet">{t(version === published ? "saysPublished" : "saysDraft", { n: version })}</p>
      </div>
      {Object.keys(schema.properties ?? {}).length > 0 ? (
        <SchemaForm key={which} schema={schema} value={value} onChange={setValue} problems={shown} />
      ) : (
        <p className="faint">{t("noInputs")}</p>
      )}
      <TextField
        label={t("correlation")}
        hint={t("correlationHint")}
        value={correlation}
        onChange={(e) => setCorrelation(e.target.value)}
      />
      {starts.length > 0 ? (
        <SelectField
          label={t("startAt")}
          value={startAt}
          options={[
            { value: "", label: t("fromTheStart") },
            ...starts.map((one) => ({ value: one.id, label: one.label })),
          ]}
          onChange={(e) => setStartAt(e.target.value)}
        />
      ) : null}
    </Dialog>
  );
}

const lastRunOf = (id: string): LastRun => {
  try {
    return JSON.parse(sessionStorage.getItem(`holdfast.run.${id}`) ?? "{}") as LastRun;
  } catch {
    return {};
  }
};

/** Runs one activity by itself, without storage. */

import { useState } from "react";
import { api } from "../api/client";
import { catalogue } from "../app/messages";
import { useEditor } from "../canvas/useEditor";
import type { Activity } from "../model/document";
import type { Json } from "../model/json";
import { Button, StatusBadge, toast } from "../ui";
import { JsonValue } from "./editors/compound";

const t = catalogue("try", {
  text: "Runs this activity alone. What it does to the world, it does.",
  values: "Values of variables",
  run: "Run it",
});

type Result = { status: string; outputs: { [name: string]: Json }; outcome?: Json; error?: Json; incidents?: Json };

export function TestActivity({ activity }: { activity: Activity }) {
  const document = useEditor((snapshot) => snapshot.document);
  const [values, setValues] = useState<Json | undefined>(() => Object.fromEntries([...(document.inputs ?? []), ...(document.variables ?? [])].map((item) => [item.name, item["default"] ?? null])));
  const [result, setResult] = useState<Result | null>(null);
  const [busy, setBusy] = useState(false);
  const run = async (): Promise<void> => {
    setBusy(true);
    await api.post<Result>("/api/test-activity", { activity, variables: values ?? {} }).then(setResult, toast.failed);
    setBusy(false);
  };
  return (
    <>
      <p className="faint small">{t("text")}</p>
      <div className="field">
        <span className="field-label">{t("values")}</span>
        <JsonValue value={values} onChange={setValues} readOnly={false} label={t("values")} />
      </div>
      <div className="row">
        <Button small icon="play" busy={busy} onClick={() => void run()}>
          {t("run")}
        </Button>
        {result ? <StatusBadge status={result.status} /> : null}
      </div>
      {result ? <pre className="code">{JSON.stringify(shown(result), null, 2)}</pre> : null}
    </>
  );
}

function shown({ outputs, outcome, error, incidents }: Result): object {
  return { ...(outcome === undefined || outcome === null ? {} : { outcome }), outputs, ...(error ? { error } : {}), ...(incidents ? { incidents } : {}) };
}

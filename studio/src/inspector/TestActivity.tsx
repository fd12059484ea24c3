/** Runs one activity alone, without persistence. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/client";
import { instances } from "../api/queries";
import type { ActivityTrialResult } from "../api/types";
import { defineMessages } from "../i18n/messages";
import type { Activity } from "../model/document";
import type { Json } from "../model/json";
import { Button, StatusBadge, toast } from "../ui";
import { usePreviewValues } from "./ExpressionPreview";
import { JsonValue } from "./editors/compound";

const t = defineMessages("activity-trial", {
  text: "Runs only this activity. Its side effects are real.",
  values: "Variables",
  run: "Run",
});

export function TestActivity({ activity }: { activity: Activity }) {
  const known = useDefaultValues();
  const [typed, setTyped] = useState<Json | undefined>(undefined);
  const [result, setResult] = useState<ActivityTrialResult | null>(null);
  const [busy, setBusy] = useState(false);
  const values = typed ?? known;
  const run = async (): Promise<void> => {
    setBusy(true);
    await api
      .post<ActivityTrialResult>("/api/test-activity", { activity, variables: values })
      .then(setResult, toast.failed);
    setBusy(false);
  };
  return (
    <>
      <p className="faint small">{t("text")}</p>
      <div className="field">
        <span className="field-label">{t("values")}</span>
        <JsonValue value={values} onChange={setTyped} readOnly={false} label={t("values")} />
      </div>
      <div className="row">
        <Button small icon="play" busy={busy} onClick={() => void run()}>
          {t("run")}
        </Button>
        {result ? <StatusBadge status={result.status} /> : null}
      </div>
      {result ? <pre className="code">{JSON.stringify(withoutEmpty(result), null, 2)}</pre> : null}
    </>
  );
}

/** Values of the preview instance, or else the declared defaults. */
function useDefaultValues(): Json {
  const { instanceId, variables, inputs } = usePreviewValues();
  const { data } = useQuery({ ...instances.one(instanceId ?? ""), enabled: instanceId !== null });
  const state = instanceId === null ? undefined : data?.state;
  return { ...(state?.variables ?? variables), ...(state?.inputs ?? inputs) } as Json;
}

/** The result without empty parts. */
function withoutEmpty({ outputs, outcome, lines, incidents }: ActivityTrialResult): object {
  const failed = incidents.map(({ type, message }) => `${type}: ${message}`);
  return {
    ...(outcome === null || outcome === undefined ? {} : { outcome }),
    outputs,
    ...(lines.length > 0 ? { lines } : {}),
    ...(failed.length > 0 ? { incidents: failed } : {}),
  };
}

import { useMemo, useState } from "react";
import { api } from "../api/client";
import type { Incident, InstanceDetail } from "../api/types";
import { useCatalogue } from "../catalogue/useCatalogue";
import { LITERAL, readInput } from "../model/expressions";
import type { Json } from "../model/json";
import { Button, Dialog, TextArea, TextField, toast } from "../ui";
import { InvalidJson, readJson } from "../ui/schema";
import { act, type Remedy } from "./actions";
import { t } from "./instanceMessages";

type IncidentDialogProps = {
  detail: InstanceDetail;
  name: string;
  incident: Incident;
  verb: Remedy;
  onClose: () => void;
};

const TITLES = { retry: "retryTitle", recover: "recoverTitle", skip: "skipTitle" } as const;

/** Retry or skip a failed activity, or run a lost one again, with a reason. */
export function IncidentDialog({ detail, name, incident, verb, onClose }: IncidentDialogProps) {
  const [text, setText] = useState(JSON.stringify(incident.inputs, null, 2));
  const expressions = useMemo(
    () => inputsOf(detail.document, incident.activity_id),
    [detail.document, incident.activity_id],
  );
  const [why, setWhy] = useState("");
  const [busy, setBusy] = useState(false);
  const [evaluating, setEvaluating] = useState(false);
  const inputs = readJson(text);
  const bad = inputs instanceof InvalidJson ? t("badJson", { why: inputs.why }) : undefined;
  // Only effects keep recorded inputs. Other activities evaluate their inputs again.
  const { catalogue } = useCatalogue();
  const effect = incident.activity_type !== null && catalogue.get(incident.activity_type)?.kind === "effect";
  const go = async () => {
    if (verb === "retry" && bad) return;
    setBusy(true);
    const changed = verb === "retry" && effect ? changedInputs(incident.inputs, inputs) : {};
    try {
      await act(detail.id, verb, {
        ...(incident.activity_id && verb !== "recover" ? { activity_id: incident.activity_id } : {}),
        ...(Object.keys(changed).length > 0 ? { inputs: changed } : {}),
        ...(why ? { why } : {}),
      });
      onClose();
    } catch (error) {
      toast.failed(error);
      setBusy(false);
    }
  };
  const reevaluateInputs = async () => {
    setEvaluating(true);
    const worked = await reevaluate(expressions ?? {}, incident.inputs, (language, expression) =>
      api.post<{ value?: Json; error?: string | null }>("/api/preview", {
        language,
        expression,
        instance_id: detail.id,
      }),
    ).catch(toast.failed);
    setEvaluating(false);
    if (!worked) return;
    setText(JSON.stringify(worked.inputs, null, 2));
    if (worked.problems.length > 0) toast.failed(new Error(worked.problems.join(" ")));
  };
  return (
    <Dialog
      title={t(TITLES[verb], { name })}
      onClose={onClose}
      onSubmit={() => void go()}
      foot={
        <Button type="submit" kind="primary" busy={busy} disabled={verb === "retry" && Boolean(bad)}>
          {t(verb)}
        </Button>
      }
    >
      <p>
        {t(verb === "skip" ? "skipText" : verb === "recover" ? "recoverText" : effect ? "retryText" : "retryAgain")}
      </p>
      {verb === "retry" && expressions ? (
        <div className="stack">
          <span className="field-label">{t("defined")}</span>
          <pre className="code">{JSON.stringify(expressions, null, 2)}</pre>
          {effect ? (
            <div>
              <Button small icon="refresh" busy={evaluating} onClick={() => void reevaluateInputs()}>
                {t("workOut")}
              </Button>
            </div>
          ) : null}
        </div>
      ) : null}
      {verb === "retry" && effect ? (
        <TextArea
          label={t("editInputs")}
          hint={t("editHint")}
          className="area mono"
          rows={6}
          value={text}
          problem={bad}
          onChange={(e) => setText(e.target.value)}
        />
      ) : null}
      <TextField label={t("why")} hint={t("whyHint")} value={why} onChange={(e) => setWhy(e.target.value)} />
    </Dialog>
  );
}

/** Only changed inputs are sent: the others are evaluated again, and the mask of a secret must not become its value. */
export function changedInputs(before: Record<string, unknown>, now: unknown): Record<string, unknown> {
  if (typeof now !== "object" || now === null || Array.isArray(now)) return {};
  return Object.fromEntries(
    Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  );
}

/** Inputs of this activity in the definition. If an input could not be evaluated, nothing else is known. */
function inputsOf(value: unknown, activity: string | null): Record<string, unknown> | null {
  if (Array.isArray(value))
    return value.reduce<Record<string, unknown> | null>((found, one) => found ?? inputsOf(one, activity), null);
  if (typeof value !== "object" || value === null) return null;
  const fields = value as Record<string, unknown>;
  if (fields.id === activity && typeof fields.type === "string")
    return (fields.inputs as Record<string, unknown> | undefined) ?? null;
  return inputsOf(Object.values(fields), activity);
}

const MASKED = /^•+$/;

type Evaluate = (language: string, expression: Json) => Promise<{ value?: Json; error?: string | null }>;

/**
 * Evaluates the inputs of an effect from the current definition with the values of the instance, for a retry after the
 * definition
 * was corrected. An input that fails to evaluate keeps its old value and is reported. A masked secret stays masked.
 */
export async function reevaluate(
  expressions: Record<string, unknown>,
  before: Record<string, unknown>,
  ask: Evaluate,
): Promise<{ inputs: Record<string, unknown>; problems: string[] }> {
  const problems: string[] = [];
  const one = async ([name, value]: [string, unknown]): Promise<[string, unknown]> => {
    const { language, source } = readInput(value as Json);
    const old = before[name];
    if (typeof old === "string" && MASKED.test(old)) return [name, old];
    if (language === LITERAL) return [name, source];
    const result = await ask(language, source);
    if (!result.error) return [name, result.value ?? null];
    problems.push(`${name}: ${result.error}`);
    return [name, old ?? null];
  };
  const inputs = { ...before, ...Object.fromEntries(await Promise.all(Object.entries(expressions).map(one))) };
  return { inputs, problems };
}

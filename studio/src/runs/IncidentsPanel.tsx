import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { instances } from "../api/queries";
import { useCan } from "../api/session";
import type { Incident, InstanceDetail } from "../api/types";
import { useCatalogue } from "../canvas/useCatalogue";
import { Answer, Badge, Button, Dialog, Empty, TextArea, TextField, toast, When } from "../ui";
import { readJson, Unreadable } from "../ui/schema";
import { t } from "./instance-words";
import { act } from "./verbs";

export function IncidentsPanel({ detail, onShow }: { detail: InstanceDetail; onShow: (activity: string | null) => void }) {
  const query = useQuery(instances.incidents(detail.id));
  const [asked, setAsked] = useState<{ incident: Incident; verb: "retry" | "skip" } | null>(null);
  return (
    <Answer query={query}>
      {(incidents) => (
        <>
          {incidents.length === 0 ? (
            <Empty icon="check" title={t("noIncidents")}>
              {t("noIncidentsText")}
            </Empty>
          ) : null}
          {[...incidents].reverse().map((incident) => (
            <One key={incident.id} incident={incident} onShow={onShow} onAsk={(verb) => setAsked({ incident, verb })} />
          ))}
          {asked ? <Repair detail={detail} incident={asked.incident} verb={asked.verb} onClose={() => setAsked(null)} /> : null}
        </>
      )}
    </Answer>
  );
}

type OneProps = { incident: Incident; onShow: (activity: string | null) => void; onAsk: (verb: "retry" | "skip") => void };

function One({ incident, onShow, onAsk }: OneProps) {
  const can = useCan();
  const stack = incident.details["traceback"] ?? incident.details["stack"];
  return (
    <article className="card padded stack">
      <div className="row">
        <Badge tone={incident.open ? "bad" : "off"}>{incident.open ? t("openIncident") : t("closedIncident")}</Badge>
        <b className="grow clip">{incident.activity_name ?? incident.activity_id ?? ""}</b>
        <When at={incident.at} />
      </div>
      <p>
        <b>{incident.type}</b>: {incident.message}
      </p>
      <dl className="facts small">
        {incident.source ? (
          <>
            <dt>{t("source")}</dt>
            <dd className="value">{incident.source}</dd>
          </>
        ) : null}
        <dt>{t("activity")}</dt>
        <dd>
          {incident.activity_id ?? "–"} {incident.activity_type ? <span className="faint">({incident.activity_type})</span> : null}
        </dd>
        {incident.attempt > 1 ? (
          <>
            <dt>{t("attempt", { n: "" })}</dt>
            <dd>{incident.attempt}</dd>
          </>
        ) : null}
      </dl>
      {Object.keys(incident.inputs).length > 0 ? <pre className="code">{JSON.stringify(incident.inputs, null, 2)}</pre> : null}
      {typeof stack === "string" ? (
        <details>
          <summary>{t("stack")}</summary>
          <pre className="code">{stack}</pre>
        </details>
      ) : null}
      <div className="row">
        <Button small icon="eye" onClick={() => onShow(incident.activity_id)}>
          {t("show")}
        </Button>
        {incident.open && can("instances:write") ? (
          <>
            <Button small kind="primary" icon="refresh" onClick={() => onAsk("retry")}>
              {t("retry")}
            </Button>
            <Button small icon="skip" onClick={() => onAsk("skip")}>
              {t("skip")}
            </Button>
          </>
        ) : null}
      </div>
    </article>
  );
}

type RepairProps = { detail: InstanceDetail; incident: Incident; verb: "retry" | "skip"; onClose: () => void };

function Repair({ detail, incident, verb, onClose }: RepairProps) {
  const [text, setText] = useState(JSON.stringify(incident.inputs, null, 2));
  const defined = useMemo(() => inputsOf(detail.document, incident.activity_id), [detail.document, incident.activity_id]);
  const [why, setWhy] = useState("");
  const [busy, setBusy] = useState(false);
  const inputs = readJson(text);
  const bad = inputs instanceof Unreadable ? t("badJson", { why: inputs.why }) : undefined;
  const name = incident.activity_name ?? incident.activity_id ?? "";
  // Only an effect is given its inputs once and for all; everything else works them out again where it stands.
  const { catalogue } = useCatalogue();
  const effect = incident.activity_type !== null && catalogue.get(incident.activity_type)?.kind === "effect";
  const go = async () => {
    if (verb === "retry" && bad) return;
    setBusy(true);
    const changed = verb === "retry" && effect ? changedIn(incident.inputs, inputs) : {};
    try {
      await act(detail.id, verb, {
        ...(incident.activity_id ? { activity_id: incident.activity_id } : {}),
        ...(Object.keys(changed).length > 0 ? { inputs: changed } : {}),
        ...(why ? { why } : {}),
      });
      onClose();
    } catch (error) {
      toast.failed(error);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={t(verb === "retry" ? "retryTitle" : "skipTitle", { name })}
      onClose={onClose}
      onSubmit={() => void go()}
      foot={
        <Button type="submit" kind="primary" busy={busy} disabled={verb === "retry" && Boolean(bad)}>
          {t(verb)}
        </Button>
      }
    >
      <p>{t(verb === "skip" ? "skipText" : effect ? "retryText" : "retryAgain")}</p>
      {verb === "retry" && defined ? (
        <div className="stack">
          <span className="field-label">{t("defined")}</span>
          <pre className="code">{JSON.stringify(defined, null, 2)}</pre>
        </div>
      ) : null}
      {verb === "retry" && effect ? (
        <TextArea label={t("editInputs")} hint={t("editHint")} className="area mono" rows={6} value={text} problem={bad} onChange={(e) => setText(e.target.value)} />
      ) : null}
      <TextField label={t("why")} hint={t("whyHint")} value={why} onChange={(e) => setWhy(e.target.value)} />
    </Dialog>
  );
}

/** Only what was changed goes back: the rest is worked out anew, and a secret is shown as dots that must not become its value. */
export function changedIn(before: Record<string, unknown>, now: unknown): Record<string, unknown> {
  if (typeof now !== "object" || now === null || Array.isArray(now)) return {};
  return Object.fromEntries(Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])));
}

/** What the definition gives to this activity: where an input could not be evaluated, this is all there is to see. */
function inputsOf(value: unknown, activity: string | null): Record<string, unknown> | null {
  if (Array.isArray(value)) return value.reduce<Record<string, unknown> | null>((found, one) => found ?? inputsOf(one, activity), null);
  if (typeof value !== "object" || value === null) return null;
  const fields = value as Record<string, unknown>;
  if (fields["id"] === activity && typeof fields["type"] === "string") return (fields["inputs"] as Record<string, unknown> | undefined) ?? null;
  return inputsOf(Object.values(fields), activity);
}

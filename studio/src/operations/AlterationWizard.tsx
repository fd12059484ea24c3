import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../api/client";
import { definitions, instances, invalidate } from "../api/queries";
import type { Alteration } from "../api/types";
import { defineMessages } from "../i18n/messages";
import { Badge, Button, Dialog, SelectField, TextArea, TextField, toast } from "../ui";
import { AlterationForm, useSuggestions } from "./AlterationChange";
import { Results } from "./AlterationsPage";
import { type Draft, newDraft, outcomeTone, toRequest } from "./alterations";

const t = defineMessages("wizard", {
  title: "New plan · step {n} of 3",
  which: "1 · Select instances",
  what: "2 · Define changes",
  dry: "3 · Dry run",
  definition: "Definition",
  choose: "Choose …",
  statuses: "Status",
  live: "Active (running or suspended)",
  suspended: "Suspended",
  faulted: "Faulted",
  ids: "Instance ids",
  idsHint: "One per line. If set, the filter above is ignored.",
  matching: "{n|instance matches|instances match} now. The filter is checked again when each instance is altered.",
  add: "Add change",
  why: "Reason",
  whyHint: "Recorded in each journal with your name",
  back: "Back",
  next: "Next",
  tryIt: "Dry run",
  tried: "Nothing was changed. Expected result:",
  none: "No instance matches.",
  noneApplies: "The plan would not alter any instance. Go back and change it.",
  run: "Alter {n|instance|instances}",
  started: "Plan started for {n|instance|instances}",
  toInstance: "Open instance",
});

/** Preselected definition and target version. */
type Start = { readonly definition: string | undefined; readonly version: string | undefined };

/** Wizard for an alteration plan: targets, changes, and a dry run before execution. */
export function AlterationWizard({
  ids: given,
  start,
  onClose,
}: {
  ids: readonly string[];
  start: Start;
  onClose: () => void;
}) {
  const navigate = useNavigate();
  const [step, setStep] = useState<1 | 2 | 3>(given.length > 0 ? 2 : 1);
  const [definition, setDefinition] = useState(start.definition ?? "");
  const [status, setStatus] = useState("live");
  const [text, setText] = useState(given.join("\n"));
  const [drafts, setDrafts] = useState<readonly Draft[]>([
    start.version === undefined ? newDraft() : { ...newDraft(), type: "migrate", version: start.version },
  ]);
  const [why, setWhy] = useState("");
  const [tried, setTried] = useState<Alteration | null>(null);
  const [busy, setBusy] = useState(false);
  const ids = text.split(/\s+/).filter(Boolean);
  const alterations = drafts.map(toRequest);
  const whole = alterations.every((one) => one !== null);
  const statuses = status === "live" ? ["running", "suspended"] : [status];
  const chosen = ids.length > 0 || definition !== "";
  const suggestions = useSuggestions(definition, ids[0]);
  const able = tried?.fates.applies ?? 0;

  const send = async (dry: boolean) => {
    setBusy(true);
    try {
      const target = ids.length > 0 ? { ids } : { filter: { definition_id: [definition], status: statuses } };
      const plan = await api.post<Alteration>("/api/alterations", {
        ...target,
        alterations,
        dry_run: dry,
        ...(why ? { why } : {}),
      });
      if (dry) {
        setTried(plan);
        setStep(3);
      } else {
        const [only] = ids.length === 1 ? ids : [];
        const show =
          only === undefined
            ? undefined
            : { label: t("toInstance"), run: () => void navigate({ to: "/instances/$id", params: { id: only } }) };
        toast.done(t("started", { n: plan.total }), show);
        await invalidate("alterations", "instances");
        onClose();
      }
    } catch (error) {
      toast.failed(error);
    } finally {
      setBusy(false);
    }
  };

  return (
    <Dialog
      title={t("title", { n: step })}
      wide={step === 3}
      onClose={onClose}
      onSubmit={() => {
        if (step === 1 && chosen) setStep(2);
        else if (step === 2 && whole) void send(true);
        else if (step === 3 && able > 0) void send(false);
      }}
      foot={
        <>
          {step > 1 ? <Button onClick={() => setStep(step === 3 ? 2 : 1)}>{t("back")}</Button> : null}
          <Button
            type="submit"
            kind="primary"
            busy={busy}
            disabled={step === 1 ? !chosen : step === 2 ? !whole : able === 0}
          >
            {step === 1 ? t("next") : step === 2 ? t("tryIt") : t("run", { n: able })}
          </Button>
        </>
      }
    >
      {step === 1 ? (
        <>
          <h3>{t("which")}</h3>
          <TargetFields
            definition={definition}
            status={status}
            onDefinition={setDefinition}
            onStatus={setStatus}
            count={ids.length === 0}
          />
          <TextArea
            label={t("ids")}
            hint={t("idsHint")}
            className="area mono"
            value={text}
            onChange={(e) => setText(e.target.value)}
          />
        </>
      ) : null}
      {step === 2 ? (
        <>
          <h3>{t("what")}</h3>
          {drafts.map((draft, index) => (
            <AlterationForm
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their position, and their content changes while it is typed
              key={index}
              draft={draft}
              suggestions={suggestions}
              onChange={(changed) => setDrafts(drafts.map((one, at) => (at === index ? changed : one)))}
              onRemove={drafts.length > 1 ? () => setDrafts(drafts.filter((_, at) => at !== index)) : null}
            />
          ))}
          <div>
            <Button small icon="add" onClick={() => setDrafts([...drafts, newDraft()])}>
              {t("add")}
            </Button>
          </div>
          <TextField label={t("why")} hint={t("whyHint")} value={why} onChange={(e) => setWhy(e.target.value)} />
        </>
      ) : null}
      {step === 3 && tried ? (
        <>
          <h3>{t("dry")}</h3>
          <p className="quiet">{t(tried.total === 0 ? "none" : able === 0 ? "noneApplies" : "tried")}</p>
          <p className="row wrap">
            {Object.entries(tried.fates).map(([fate, count]) => (
              <Badge key={fate} tone={outcomeTone(fate)}>
                {fate.replaceAll("_", " ")} {count}
              </Badge>
            ))}
          </p>
          <Results rows={tried.results} />
        </>
      ) : null}
    </Dialog>
  );
}

type TargetFieldsProps = {
  definition: string;
  status: string;
  onDefinition: (id: string) => void;
  onStatus: (status: string) => void;
  count: boolean;
};

function TargetFields({ definition, status, onDefinition, onStatus, count }: TargetFieldsProps) {
  const known = useQuery(definitions.known());
  const statuses = status === "live" ? ["running", "suspended"] : [status];
  const matching = useQuery({
    ...instances.list({ definition_id: definition, status: statuses, limit: 1, total: true }),
    enabled: count && definition !== "",
  });
  return (
    <>
      <SelectField
        label={t("definition")}
        value={definition}
        onChange={(e) => onDefinition(e.target.value)}
        options={[
          { value: "", label: t("choose") },
          ...(known.data?.items ?? []).map((one) => ({ value: one.id, label: one.name || one.id })),
        ]}
      />
      <SelectField
        label={t("statuses")}
        value={status}
        onChange={(e) => onStatus(e.target.value)}
        options={(["live", "suspended", "faulted"] as const).map((one) => ({ value: one, label: t(one) }))}
      />
      {definition && count && matching.data ? (
        <p className="quiet">{t("matching", { n: matching.data.total ?? 0 })}</p>
      ) : null}
    </>
  );
}

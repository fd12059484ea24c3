import { useState } from "react";
import { useCan } from "../api/session";
import type { Alteration } from "../api/types";
import { defineMessages } from "../i18n/messages";
import { useFilters } from "../navigation/filters";
import { Badge, Button, Dialog, Json, Table, Timestamp, type Tone, Value } from "../ui";
import { AlterationWizard } from "./AlterationWizard";
import { alterationName, outcomeTone } from "./alterations";
import { ListPage } from "./ListPage";

const t = defineMessages("alterations", {
  title: "Alterations",
  lead: "Planned changes to active instances, with a dry run",
  state: "State",
  what: "Changes",
  progress: "Progress",
  who: "By",
  why: "Reason",
  created: "Created",
  new: "New plan",
  dry: "dry run",
  detail: "Plan {id}",
  results: "Results",
  instance: "Instance",
  outcome: "Outcome",
  message: "Details",
  emptyTitle: "No alterations yet",
  empty:
    "Set variables, cancel or schedule activities, or migrate instances to another version. Each plan has a dry run.",
});

const tone = (state: string): Tone =>
  state === "done" || state === "completed" ? "ok" : state === "failed" ? "bad" : "run";

const touched = (plan: Alteration): number => plan.altered + plan.unchanged + plan.failed;

export function AlterationsPage() {
  const can = useCan();
  const [filters, setFilters] = useFilters();
  const [making, setMaking] = useState(Boolean(filters.ids ?? filters.definition));
  const [shown, setShown] = useState<Alteration | null>(null);
  return (
    <>
      <ListPage<Alteration>
        title={t("title")}
        lead={t("lead")}
        resource="alterations"
        icon="wand"
        refresh={3_000}
        emptyTitle={t("emptyTitle")}
        empty={t("empty")}
        id={(row) => row.id}
        name={(row) => row.id}
        actions={
          can("operations:write") ? (
            <Button kind="primary" icon="add" onClick={() => setMaking(true)}>
              {t("new")}
            </Button>
          ) : undefined
        }
        columns={[
          {
            id: "state",
            label: t("state"),
            sort: "state",
            cell: (row) => (
              <span className="row" style={{ gap: 4 }}>
                <Badge tone={tone(row.state)}>{row.state}</Badge>
                {row.dry_run ? <Badge>{t("dry")}</Badge> : null}
              </span>
            ),
          },
          {
            id: "what",
            label: t("what"),
            cell: (row) => (
              <button type="button" className="name" onClick={() => setShown(row)}>
                {row.alterations.map((one) => alterationName(String(one.type ?? "?"))).join(", ")}
              </button>
            ),
          },
          {
            id: "progress",
            label: t("progress"),
            sort: "altered",
            cell: (row) => (
              <span className="row">
                <progress max={Math.max(1, row.total)} value={touched(row)} aria-label={t("progress")} />
                {touched(row)} / {row.total}
                {row.failed > 0 ? <Badge tone="bad">{row.failed}</Badge> : null}
              </span>
            ),
          },
          { id: "who", label: t("who"), sort: "who", cell: (row) => row.who },
          { id: "why", label: t("why"), sort: "why", cell: (row) => <span className="quiet">{row.why}</span> },
          { id: "created", label: t("created"), sort: "created", cell: (row) => <Timestamp at={row.created} /> },
        ]}
      />
      {making ? (
        <AlterationWizard
          ids={filters.ids?.split(",") ?? []}
          start={{ definition: filters.definition, version: filters.version }}
          onClose={() => {
            setMaking(false);
            setFilters({ ids: undefined, definition: undefined, version: undefined });
          }}
        />
      ) : null}
      {shown ? (
        <Dialog title={t("detail", { id: shown.id })} wide onClose={() => setShown(null)}>
          <Json value={shown.alterations} label={t("what")} />
          <Results rows={shown.results} />
        </Dialog>
      ) : null}
    </>
  );
}

function Fate({ fate }: { fate: string }) {
  return <Badge tone={outcomeTone(fate)}>{fate.replaceAll("_", " ")}</Badge>;
}

/** Result per instance, of a dry run or of an execution. */
export function Results({ rows }: { rows: readonly Record<string, unknown>[] }) {
  if (rows.length === 0) return null;
  const id = (row: Record<string, unknown>) => String(row.instance_id ?? row.id ?? "");
  return (
    <Table
      label={t("results")}
      rows={rows}
      id={id}
      name={id}
      columns={[
        { id: "instance", label: t("instance"), cell: (row) => <span className="value">{id(row)}</span> },
        {
          id: "outcome",
          label: t("outcome"),
          cell: (row) => <Fate fate={String(row.outcome ?? row.state ?? row.class ?? "")} />,
        },
        {
          id: "message",
          label: t("message"),
          cell: (row) => {
            const { instance_id: _i, id: _d, outcome: _o, state: _s, message, ...rest } = row;
            return message ? String(message) : Object.keys(rest).length > 0 ? <Value value={rest} /> : null;
          },
        },
      ]}
    />
  );
}

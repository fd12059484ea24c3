import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../api/client";
import { apiPath, invalidate } from "../api/queries";
import { useCan } from "../api/session";
import type { Schedule } from "../api/types";
import { defineMessages } from "../i18n/messages";
import { Badge, Button, Dialog, Menu, QueryView, Timestamp, toast } from "../ui";
import { ListPage } from "./ListPage";

const t = defineMessages("schedules", {
  title: "Schedules",
  lead: "Timers and cron triggers of published definitions",
  definition: "Definition",
  activity: "Activity",
  kind: "Kind",
  rule: "Rule",
  due: "Next",
  fired: "Last",
  state: "State",
  active: "Active",
  paused: "Paused",
  pause: "Pause",
  resume: "Resume",
  run: "Run now",
  next: "Next occurrences",
  nextTitle: "Next occurrences of {name}",
  ran: "Started",
  actions: "Actions: {name}",
  emptyTitle: "No schedules",
  empty:
    "Put a Timer or Cron activity at the start of a workflow and publish it. Its next occurrences are shown here, and you can pause it.",
});

export function SchedulesPage() {
  const can = useCan();
  const [shown, setShown] = useState<Schedule | null>(null);
  const act = (row: Schedule, verb: string) =>
    void api
      .post(apiPath("schedules", row.id, verb))
      .then(() => {
        if (verb === "run") toast.done(t("ran"));
        return invalidate("schedules", "instances");
      })
      .catch(toast.failed);
  return (
    <>
      <ListPage<Schedule>
        title={t("title")}
        lead={t("lead")}
        resource="schedules"
        icon="clock"
        refresh={10_000}
        emptyTitle={t("emptyTitle")}
        empty={t("empty")}
        id={(row) => row.id}
        name={(row) => row.definition_name}
        columns={[
          {
            id: "definition",
            label: t("definition"),
            sort: "definition_name",
            cell: (row) => (
              <Link className="name" to="/definitions/$id" params={{ id: row.definition_id }}>
                {row.definition_name}
              </Link>
            ),
          },
          {
            id: "activity",
            label: t("activity"),
            sort: "activity_id",
            cell: (row) => row.activity_name ?? <span className="value">{row.activity_id}</span>,
          },
          { id: "kind", label: t("kind"), sort: "type", cell: (row) => <Badge tone="accent">{row.type}</Badge> },
          {
            id: "rule",
            label: t("rule"),
            sort: "rule",
            cell: (row) => (
              <span className="value">
                {row.rule} {row.zone ? <span className="faint">{row.zone}</span> : null}
              </span>
            ),
          },
          { id: "due", label: t("due"), sort: "due", cell: (row) => <Timestamp at={row.paused ? null : row.due} /> },
          { id: "fired", label: t("fired"), sort: "fired", cell: (row) => <Timestamp at={row.fired} /> },
          {
            id: "state",
            label: t("state"),
            sort: "paused",
            cell: (row) => <Badge tone={row.paused ? "wait" : "ok"}>{row.paused ? t("paused") : t("active")}</Badge>,
          },
          {
            id: "actions",
            label: "",
            tight: true,
            cell: (row) => (
              <Menu
                small
                label={t("actions", { name: row.definition_name })}
                items={[
                  { label: t("next"), icon: "clock", onSelect: () => setShown(row) },
                  can("operations:write") && { label: t("run"), icon: "play", onSelect: () => act(row, "run") },
                  can("operations:write") &&
                    (row.paused
                      ? { label: t("resume"), icon: "play", onSelect: () => act(row, "resume") }
                      : { label: t("pause"), icon: "pause", onSelect: () => act(row, "pause") }),
                ]}
              />
            ),
          },
        ]}
      />
      {shown ? <NextTimes schedule={shown} onClose={() => setShown(null)} /> : null}
    </>
  );
}

function NextTimes({ schedule, onClose }: { schedule: Schedule; onClose: () => void }) {
  const query = useQuery({
    queryKey: ["schedules", "next", schedule.id],
    queryFn: () =>
      api.get<{ times: string[]; description: string | null }>(apiPath("schedules", schedule.id, "next"), { count: 8 }),
  });
  return (
    <Dialog
      title={t("nextTitle", { name: schedule.definition_name })}
      onClose={onClose}
      foot={<Button onClick={onClose}>OK</Button>}
    >
      <QueryView query={query}>
        {(data) => (
          <>
            {data.description ? <p className="quiet">{data.description}</p> : null}
            <ol className="stack" style={{ paddingLeft: 20 }}>
              {data.times.map((time) => (
                <li key={time}>
                  <Timestamp at={time} as="moment" className="" /> <Timestamp at={time} />
                </li>
              ))}
            </ol>
          </>
        )}
      </QueryView>
    </Dialog>
  );
}

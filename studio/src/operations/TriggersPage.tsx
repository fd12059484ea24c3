import { Link } from "@tanstack/react-router";
import type { Trigger } from "../api/types";
import { defineMessages } from "../i18n/messages";
import { Badge, Value } from "../ui";
import { ListPage } from "./ListPage";

const t = defineMessages("triggers", {
  title: "Triggers",
  lead: "Triggers of all published definitions",
  type: "Type",
  definition: "Definition",
  activity: "Activity",
  version: "Version",
  payload: "Listens for",
  emptyTitle: "No triggers",
  empty:
    "A trigger is an activity that starts a workflow: an event, an HTTP endpoint or a timer. Publish a definition with a trigger to see it here.",
});

export function TriggersPage() {
  return (
    <ListPage<Trigger>
      title={t("title")}
      lead={t("lead")}
      resource="triggers"
      icon="bolt"
      emptyTitle={t("emptyTitle")}
      empty={t("empty")}
      id={(row) => `${row.definition_id}/${row.version}/${row.activity_id}/${row.type}`}
      name={(row) => `${row.type} ${row.definition_name}`}
      columns={[
        { id: "type", label: t("type"), sort: "type", cell: (row) => <Badge tone="accent">{row.type}</Badge> },
        { id: "payload", label: t("payload"), wide: true, cell: (row) => <Value value={row.payload} /> },
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
        { id: "version", label: t("version"), sort: "version", number: true, cell: (row) => row.version },
        {
          id: "activity",
          label: t("activity"),
          sort: "activity_id",
          cell: (row) => row.activity_name ?? <span className="value">{row.activity_id}</span>,
        },
      ]}
    />
  );
}

import { Link } from "@tanstack/react-router";
import type { DefinitionSummary } from "../api/types";
import { Badge, type Column, Icon, Menu, Timestamp } from "../ui";
import { toast } from "../ui/Toast";
import { exportAll, exportPython, publish } from "./actions";
import type { DialogRequest } from "./Dialogs";
import { t } from "./messages";

type Row = DefinitionSummary;

export const columns = (
  can: (permission: string) => boolean,
  ask: (request: DialogRequest) => void,
  onLabel: (label: string) => void,
): Column<Row>[] => [
  { id: "name", label: t("name"), sort: "name", wide: true, cell: (row) => <Name row={row} /> },
  { id: "state", label: t("state"), sort: "published_version", cell: (row) => <State row={row} /> },
  { id: "version", label: t("version"), sort: "version", number: true, spare: true, cell: (row) => row.latest_version },
  {
    id: "folder",
    label: t("folder"),
    sort: "folder",
    spare: true,
    cell: (row) =>
      row.folder ? (
        <span className="row quiet" style={{ gap: 6 }}>
          <Icon name="folder" />
          {row.folder}
        </span>
      ) : null,
  },
  {
    id: "labels",
    label: t("labels"),
    sort: "labels",
    cell: (row) => (
      <span className="row wrap" style={{ gap: 4 }}>
        {row.labels.map((label) => (
          <button
            key={label}
            type="button"
            className="badge accent"
            style={{ border: 0, cursor: "pointer" }}
            onClick={() => onLabel(label)}
          >
            {label}
          </button>
        ))}
      </span>
    ),
  },
  {
    id: "origin",
    label: t("origin"),
    sort: "origin",
    spare: true,
    cell: (row) => <span className="quiet">{t(row.origin)}</span>,
  },
  { id: "updated", label: t("updated"), sort: "updated", cell: (row) => <Timestamp at={row.updated} /> },
  { id: "actions", label: "", tight: true, cell: (row) => <RowMenu row={row} can={can} ask={ask} /> },
];

function Name({ row }: { row: Row }) {
  return (
    <div style={{ lineHeight: "18px" }}>
      <Link className="name" to="/definitions/$id" params={{ id: row.id }}>
        {row.name || row.id}
      </Link>
      <div className="faint small clip">
        {row.id}
        {row.description ? ` · ${row.description}` : ""}
      </div>
    </div>
  );
}

function State({ row }: { row: Row }) {
  return (
    <span className="row" style={{ gap: 4, whiteSpace: "nowrap" }}>
      {row.published_version ? <Badge tone="ok">{t("publishedVersion", { n: row.published_version })}</Badge> : null}
      {row.has_draft || !row.published_version ? (
        <Badge tone="off">{row.published_version ? t("draftAfter", { n: row.latest_version }) : t("draft")}</Badge>
      ) : null}
    </span>
  );
}

function RowMenu({
  row,
  can,
  ask,
}: {
  row: Row;
  can: (permission: string) => boolean;
  ask: (request: DialogRequest) => void;
}) {
  const mine = row.origin === "api" && can("definitions:write");
  return (
    <span className="row" style={{ gap: 0 }}>
      <Menu
        small
        label={`${t("actions")}: ${row.name || row.id}`}
        items={[
          can("definitions:execute") && { label: t("run"), icon: "play", onSelect: () => ask({ kind: "run", row }) },
          can("definitions:publish") &&
            row.origin === "api" && {
              label: t("publish"),
              icon: "check",
              disabled: !row.has_draft && row.published_version !== null,
              onSelect: () => void publish(row).catch(toast.failed),
            },
          can("definitions:publish") &&
            row.published_version !== null &&
            row.origin === "api" && {
              label: t("retract"),
              icon: "pause",
              onSelect: () => ask({ kind: "retract", ids: [row.id] }),
            },
          "line",
          { label: t("versions"), icon: "history", onSelect: () => ask({ kind: "versions", row }) },
          { label: t("instances"), icon: "list", onSelect: () => ask({ kind: "instances", row }) },
          { label: t("export"), icon: "download", onSelect: () => void exportAll([row.id]).catch(toast.failed) },
          row.origin !== "code" && {
            label: t("exportPython"),
            icon: "code",
            onSelect: () => void exportPython(row.id).catch(toast.failed),
          },
          can("definitions:write") && {
            label: t("duplicate"),
            icon: "copy",
            onSelect: () => ask({ kind: "duplicate", row }),
          },
          mine && { label: t("move"), icon: "label", onSelect: () => ask({ kind: "label", ids: [row.id], row }) },
          "line",
          mine && {
            label: t("delete"),
            icon: "trash",
            danger: true,
            onSelect: () => ask({ kind: "delete", ids: [row.id] }),
          },
        ]}
      />
    </span>
  );
}

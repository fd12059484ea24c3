import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { definitions, instances } from "../api/queries";
import { useCan } from "../api/session";
import { type InstanceCounts, type InstanceItem, STATUSES } from "../api/types";
import { useFilters } from "../navigation/filters";
import { usePaging } from "../navigation/paging";
import {
  Badge,
  Button,
  type Column,
  Empty,
  Heading,
  Id,
  LinkButton,
  Menu,
  Pager,
  QueryView,
  SearchField,
  StatusBadge,
  statusName,
  Table,
  Timestamp,
} from "../ui";
import { useDebounced } from "../ui/useDebounced";
import { type BulkAction, type Chosen, countOf, filterOf } from "./actions";
import { BulkConfirm } from "./BulkConfirm";
import { t } from "./messages";
import { PeriodFilter, usePeriod } from "./PeriodFilter";
import { SavedFilters } from "./SavedFilters";
import { useLiveList } from "./useLive";

const SIZE = 50;

export function InstancesPage() {
  const can = useCan();
  const navigate = useNavigate();
  const [filters, setFilters] = useFilters();
  const paging = usePaging();
  const search = useDebounced(filters.search ?? "");
  const times = usePeriod(filters);
  const sort = filters.sort ?? "-created";
  const base = {
    search,
    definition_id: filters.definition_id,
    correlation_id: filters.correlation_id,
    parent_id: filters.parent_id,
    has_incidents: filters.incidents ? true : undefined,
    ...times,
  };
  const statuses = filters.status?.split(",").filter(Boolean) ?? [];
  const query = useQuery(instances.list({ ...base, status: statuses, sort, limit: SIZE, cursor: paging.cursor }));
  const [everything, setEverything] = useState(false);
  // The server has counts by definition and status at hand. It counts other filters only if all matches are selected.
  const counted = Object.entries(base).every(([name, value]) => name === "definition_id" || !value);
  const counts = useQuery({
    ...instances.counts(base),
    placeholderData: keepPreviousData,
    enabled: counted || everything,
  });
  useLiveList();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [request, setRequest] = useState<{ action: BulkAction; chosen: Chosen } | null>(null);
  const select = (ids: ReadonlySet<string>) => {
    setSelected(ids);
    setEverything(false);
  };
  const shown = counted || everything ? counts.data : undefined;
  const total = shown ? totalOf(shown, statuses) : undefined;
  const hasMore = Boolean(query.data?.next) && query.data?.items.every((one) => selected.has(one.id)) === true;
  const chosen: Chosen = everything ? { filter: filterOf(base, statuses), count: total ?? 0 } : { ids: [...selected] };
  const filter = (changed: Record<string, string | undefined>) => {
    paging.first();
    select(new Set());
    setFilters(changed);
  };
  const filtered = Object.entries(filters).some(([name, value]) => name !== "sort" && value);
  return (
    <div className="page">
      <header className="page-head">
        <Heading>{t("title")}</Heading>
        <span className="lead grow">{shown?.total}</span>
        <SavedFilters filters={filters} onUse={setFilters} />
      </header>
      <div className="row wrap">
        <div style={{ width: 280 }}>
          <SearchField
            label={t("search")}
            value={filters.search ?? ""}
            onChange={(e) => filter({ search: e.target.value })}
          />
        </div>
        <DefinitionFilter value={filters.definition_id ?? ""} onChange={(definition_id) => filter({ definition_id })} />
        <PeriodFilter filters={filters} onChange={filter} />
      </div>
      <div className="row wrap">
        <StatusChips
          value={filters.status ?? ""}
          counts={shown?.by_status ?? null}
          onChange={(status) => filter({ status })}
        />
        <button
          type="button"
          className="chip"
          aria-pressed={Boolean(filters.incidents)}
          onClick={() => filter({ incidents: filters.incidents ? undefined : "1" })}
        >
          {t("withIncidents")}
        </button>
      </div>
      {query.data?.capped ? <div className="banner wait">{t("capped")}</div> : null}
      {query.data?.stale ? <div className="banner wait">{t("stale")}</div> : null}
      {selected.size > 0 ? (
        <div className="bulk" role="toolbar" aria-label={t("actions")}>
          <span>{everything && total === undefined ? t("allSelected") : t("selected", { n: countOf(chosen) })}</span>
          {hasMore && !everything ? (
            <Button small kind="plain" onClick={() => setEverything(true)}>
              {total === undefined ? t("everythingUncounted") : t("everything", { n: total })}
            </Button>
          ) : null}
          <span className="grow" />
          {can("instances:write") ? (
            <>
              <Button small icon="refresh" onClick={() => setRequest({ action: "retry", chosen })}>
                {t("retry")}
              </Button>
              <Button small icon="stop" onClick={() => setRequest({ action: "cancel", chosen })}>
                {t("cancel")}
              </Button>
            </>
          ) : null}
          {can("instances:delete") ? (
            <Button small danger icon="trash" onClick={() => setRequest({ action: "delete", chosen })}>
              {t("delete")}
            </Button>
          ) : null}
          <Button small kind="plain" onClick={() => select(new Set())}>
            {t("clear")}
          </Button>
        </div>
      ) : null}
      <QueryView query={query} rows={8}>
        {(data) =>
          data.items.length > 0 ? (
            <>
              <Table
                label={t("title")}
                rows={data.items}
                id={(row) => row.id}
                name={(row) => row.name ?? row.id}
                columns={columns(can, setRequest)}
                sort={sort}
                onSort={(by) => filter({ sort: by })}
                selection={{ ids: selected, set: select }}
                onOpen={(row) => void navigate({ to: "/instances/$id", params: { id: row.id } })}
              />
              <Pager paging={paging} data={{ ...data, total }} size={SIZE} />
            </>
          ) : (
            <div className="card">
              {filtered ? (
                <Empty
                  icon="search"
                  title={t("noneTitle")}
                  actions={
                    <Button onClick={() => void navigate({ to: "/instances", search: {} })}>{t("reset")}</Button>
                  }
                >
                  {t("none")}
                </Empty>
              ) : (
                <Empty
                  icon="list"
                  title={t("emptyTitle")}
                  actions={<LinkButton to="/definitions">{t("toDefinitions")}</LinkButton>}
                >
                  {t("empty")}
                </Empty>
              )}
            </div>
          )
        }
      </QueryView>
      {request ? (
        <BulkConfirm
          action={request.action}
          chosen={request.chosen}
          onClose={() => setRequest(null)}
          onDone={() => select(new Set())}
        />
      ) : null}
    </div>
  );
}

type ChipsProps = {
  value: string;
  counts: Record<string, number> | null;
  onChange: (status: string | undefined) => void;
};

function StatusChips({ value, counts, onChange }: ChipsProps) {
  const chosen = new Set(value.split(",").filter(Boolean));
  const toggle = (status: string) => {
    const next = new Set(chosen);
    if (!next.delete(status)) next.add(status);
    onChange(next.size > 0 ? [...next].join(",") : undefined);
  };
  return (
    <fieldset className="row wrap" aria-label={t("status")} style={{ gap: 4 }}>
      {STATUSES.map((status) => (
        <button
          key={status}
          type="button"
          className="chip"
          aria-pressed={chosen.has(status)}
          onClick={() => toggle(status)}
        >
          {statusName(status)}
          {counts ? <b>{counts[status] ?? 0}</b> : null}
        </button>
      ))}
    </fieldset>
  );
}

function DefinitionFilter({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const can = useCan();
  const known = useQuery({ ...definitions.known(), enabled: can("definitions:read") });
  return (
    <select
      className="select"
      style={{ width: 152 }}
      aria-label={t("definition")}
      value={value}
      onChange={(e) => onChange(e.target.value)}
    >
      <option value="">{t("allDefinitions")}</option>
      {(known.data?.items ?? []).map((one) => (
        <option key={one.id} value={one.id}>
          {one.name || one.id}
        </option>
      ))}
    </select>
  );
}

/** Instances with these statuses; all if none is given. */
const totalOf = (counts: InstanceCounts, statuses: string[]) =>
  statuses.length === 0 ? counts.total : statuses.reduce((sum, one) => sum + (counts.by_status[one] ?? 0), 0);

const columns = (
  can: (permission: string) => boolean,
  ask: (request: { action: BulkAction; chosen: Chosen }) => void,
): Column<InstanceItem>[] => [
  { id: "status", label: t("status"), cell: (row) => <StatusBadge status={row.status} /> },
  {
    id: "definition",
    label: t("definition"),
    wide: true,
    cell: (row) => (
      <div style={{ lineHeight: "18px" }}>
        <Link className="name" to="/instances/$id" params={{ id: row.id }}>
          {row.name || row.definition_name || row.definition_id}
        </Link>
        <div className="faint small clip">{row.name ? row.definition_name : row.definition_id}</div>
      </div>
    ),
  },
  {
    id: "version",
    label: t("version"),
    number: true,
    spare: true,
    cell: (row) => row.definition_version,
  },
  { id: "id", label: t("id"), sort: "id", cell: (row) => <Id id={row.id} short /> },
  {
    id: "correlation",
    label: t("correlation"),
    cell: (row) => (
      <span
        className="value clip"
        style={{ maxWidth: "clamp(88px, 14vw, 200px)" }}
        title={row.correlation_id ?? undefined}
      >
        {row.correlation_id ?? ""}
      </span>
    ),
  },
  {
    id: "incidents",
    label: t("incidents"),
    number: true,
    cell: (row) => (row.incidents > 0 ? <Badge tone="bad">{row.incidents}</Badge> : <span className="faint">0</span>),
  },
  { id: "created", label: t("created"), sort: "created", spare: true, cell: (row) => <Timestamp at={row.created} /> },
  { id: "updated", label: t("updated"), sort: "updated", cell: (row) => <Timestamp at={row.updated} /> },
  {
    id: "finished",
    label: t("finished"),
    sort: "finished",
    spare: true,
    cell: (row) => <Timestamp at={row.finished} />,
  },
  {
    id: "actions",
    label: "",
    tight: true,
    cell: (row) => (
      <Menu
        small
        label={`${t("actions")}: ${row.id}`}
        items={[
          can("instances:write") &&
            row.incidents > 0 && {
              label: t("retry"),
              icon: "refresh",
              onSelect: () => ask({ action: "retry", chosen: { ids: [row.id] } }),
            },
          can("instances:write") &&
            !row.finished && {
              label: t("cancel"),
              icon: "stop",
              onSelect: () => ask({ action: "cancel", chosen: { ids: [row.id] } }),
            },
          can("instances:delete") && {
            label: t("delete"),
            icon: "trash",
            danger: true,
            onSelect: () => ask({ action: "delete", chosen: { ids: [row.id] } }),
          },
        ]}
      />
    ),
  },
];

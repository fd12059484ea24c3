import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import { list } from "../api/queries";
import { type Column, Empty, Heading, type IconName, QueryView, type Selection, Table } from "../ui";

type Props<Row> = {
  title: string;
  lead?: string;
  resource: string;
  /** A column's `sort` is a field of the row. */
  columns: readonly Column<Row>[];
  id: (row: Row) => string;
  name: (row: Row) => string;
  icon: IconName;
  emptyTitle: string;
  empty: string;
  actions?: ReactNode;
  above?: ReactNode;
  selection?: Selection | undefined;
  refresh?: number;
};

/** A page with one list of the server. These lists are short, so they are loaded completely and sorted here. */
export function ListPage<Row extends object>(props: Props<Row>) {
  const query = useQuery({
    ...list<Row>(props.resource, { limit: 200 }),
    ...(props.refresh ? { refetchInterval: props.refresh } : {}),
  });
  return (
    <div className="page">
      <header className="page-head">
        <Heading>{props.title}</Heading>
        <span className="lead grow">{props.lead}</span>
        {props.actions}
      </header>
      {props.above}
      <QueryView query={query}>
        {(data) => <Rows {...props} items={Array.isArray(data) ? (data as Row[]) : data.items} />}
      </QueryView>
    </div>
  );
}

function Rows<Row extends object>({ items, ...props }: Props<Row> & { items: readonly Row[] }) {
  const [sort, setSort] = useState<string>();
  const rows = useMemo(() => sorted(items, sort), [items, sort]);
  if (rows.length === 0)
    return (
      <div className="card">
        <Empty icon={props.icon} title={props.emptyTitle}>
          {props.empty}
        </Empty>
      </div>
    );
  return (
    <Table
      label={props.title}
      rows={rows}
      columns={props.columns}
      id={props.id}
      name={props.name}
      {...(sort ? { sort } : {})}
      onSort={setSort}
      selection={props.selection}
    />
  );
}

export function sorted<Row extends object>(items: readonly Row[], sort: string | undefined): readonly Row[] {
  if (!sort) return items;
  const field = sort.replace(/^-/, "");
  const direction = sort.startsWith("-") ? -1 : 1;
  const text = (row: Row): string => String((row as Record<string, unknown>)[field] ?? "");
  return [...items].sort((a, b) => direction * text(a).localeCompare(text(b), undefined, { numeric: true }));
}

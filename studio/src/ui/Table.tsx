import type { ReactNode } from "react";
import { defineMessages } from "../i18n/messages";
import { Icon } from "./Icon";
import { ScrollRegion } from "./ScrollRegion";

const t = defineMessages("table", { all: "Select all", one: "Select {name}" });

export type Column<Row> = {
  id: string;
  label: string;
  /** Sort field of the server. Without it, the column cannot be sorted. */
  sort?: string;
  number?: boolean;
  tight?: boolean;
  /** Takes the remaining width; long content is truncated. */
  wide?: boolean;
  /** Hidden on narrow screens; the detail page shows it. */
  spare?: boolean;
  cell: (row: Row) => ReactNode;
};

export type Selection = { ids: ReadonlySet<string>; set: (ids: ReadonlySet<string>) => void };

type TableProps<Row> = {
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  id: (row: Row) => string;
  name: (row: Row) => string;
  sort?: string;
  onSort?: (sort: string) => void;
  selection?: Selection | undefined;
  onOpen?: (row: Row) => void;
};

/** A table of rows. The server sorts; the header only selects the field. */
export function Table<Row>({ label, rows, columns, id, name, sort, onSort, selection, onOpen }: TableProps<Row>) {
  const allSelected = rows.length > 0 && rows.every((row) => selection?.ids.has(id(row)));
  return (
    <ScrollRegion className="card table-frame" label={label}>
      <table className="table">
        <thead>
          <tr>
            {selection ? (
              <th className="tight">
                <input
                  type="checkbox"
                  aria-label={t("all")}
                  checked={allSelected}
                  onChange={() => selection.set(allSelected ? new Set() : new Set(rows.map(id)))}
                />
              </th>
            ) : null}
            {columns.map((column) => (
              <Head key={column.id} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={id(row)}
              className={onOpen ? "link" : ""}
              aria-selected={selection?.ids.has(id(row))}
              onClick={(event) => {
                if (onOpen && !(event.target as HTMLElement).closest("a,button,input,label")) onOpen(row);
              }}
            >
              {selection ? (
                <td className="tight">
                  <input
                    type="checkbox"
                    aria-label={t("one", { name: name(row) })}
                    checked={selection.ids.has(id(row))}
                    onChange={() => selection.set(toggled(selection.ids, id(row)))}
                  />
                </td>
              ) : null}
              {columns.map((column) => (
                <td key={column.id} className={kind(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

const kind = <Row,>({ number, tight, wide, spare }: Column<Row>): string =>
  [number ? "number" : "", tight ? "tight" : "", wide ? "wide" : "", spare ? "spare" : ""].filter(Boolean).join(" ");

export function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}

type HeadProps<Row> = { column: Column<Row>; sort?: string | undefined; onSort?: ((sort: string) => void) | undefined };

function Head<Row>({ column, sort, onSort }: HeadProps<Row>) {
  const by = column.sort;
  const active = by !== undefined && (sort === by || sort === `-${by}`);
  const down = sort === `-${by}`;
  return (
    <th scope="col" className={kind(column)} aria-sort={active ? (down ? "descending" : "ascending") : undefined}>
      {by && onSort ? (
        <button type="button" onClick={() => onSort(active && !down ? `-${by}` : by)}>
          {column.label}
          {active ? <Icon name={down ? "arrowDown" : "arrowUp"} size={12} /> : null}
        </button>
      ) : (
        column.label || <span className="visually-hidden">{column.id}</span>
      )}
    </th>
  );
}

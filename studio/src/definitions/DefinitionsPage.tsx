import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useRef, useState } from "react";
import { definitions } from "../api/queries";
import { useCan } from "../api/session";
import type { DefinitionSummary, ImportedFile } from "../api/types";
import { usePageCommands } from "../navigation/commands";
import { useFilters } from "../navigation/filters";
import { usePaging } from "../navigation/paging";
import { Button, Empty, Heading, Pager, QueryView, SearchField, Segments, Table, toast } from "../ui";
import { useDebounced } from "../ui/useDebounced";
import { importFiles } from "./actions";
import { BulkActions } from "./BulkActions";
import { columns } from "./columns";
import { type DialogRequest, Dialogs } from "./Dialogs";
import { ImportResult, useFileDrop } from "./FileImport";
import { t } from "./messages";
import "./drop.css";

const SIZE = 50;

export function DefinitionsPage() {
  const can = useCan();
  const navigate = useNavigate();
  const [filters, setFilters] = useFilters();
  const paging = usePaging();
  const search = useDebounced(filters.search ?? "");
  const sort = filters.sort ?? "-updated";
  const query = useQuery(
    definitions.list({
      search,
      sort,
      state: filters.state ?? "all",
      folder: filters.folder,
      label: filters.label,
      limit: SIZE,
      cursor: paging.cursor,
    }),
  );
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [request, setRequest] = useState<DialogRequest | null>(null);
  const [imported, setImported] = useState<ImportedFile[] | null>(null);
  const picker = useRef<HTMLInputElement>(null);
  const take = (files: Iterable<File>) => void importFiles(files).then(setImported, toast.failed);
  const { over, ...drop } = useFileDrop(can("definitions:write") ? take : null);
  const filter = (changed: Record<string, string | undefined>) => {
    paging.first();
    setSelected(new Set());
    setFilters(changed);
  };
  usePageCommands(
    "definitions",
    useMemo(
      () =>
        can("definitions:write")
          ? [{ id: "new", label: t("new"), icon: "add" as const, run: () => setRequest({ kind: "new" }) }]
          : [],
      [can],
    ),
  );
  const filtered = Boolean(search || filters.label || filters.folder || (filters.state ?? "all") !== "all");
  return (
    <div className="page" style={{ position: "relative" }} {...drop}>
      <header className="page-head">
        <Heading>{t("title")}</Heading>
        <span className="lead grow">{query.data?.total}</span>
        {can("definitions:write") ? (
          <>
            <input
              ref={picker}
              type="file"
              hidden
              multiple
              aria-label={t("import")}
              accept=".json,.yaml,.yml,.zip"
              onChange={(event) => event.target.files && take(event.target.files)}
            />
            <Button icon="upload" title={t("dropHint")} onClick={() => picker.current?.click()}>
              {t("import")}
            </Button>
            <Button icon="add" kind="primary" onClick={() => setRequest({ kind: "new" })}>
              {t("new")}
            </Button>
          </>
        ) : null}
      </header>
      <Filters filters={filters} onChange={filter} />
      {selected.size > 0 ? (
        <BulkActions ids={[...selected]} onAsk={setRequest} onClear={() => setSelected(new Set())} />
      ) : null}
      <QueryView query={query} rows={8}>
        {(data) =>
          data.items.length > 0 ? (
            <>
              <Table
                label={t("title")}
                rows={data.items}
                id={(row) => row.id}
                name={(row) => row.name || row.id}
                columns={columns(can, setRequest, (label) => filter({ label }))}
                sort={sort}
                onSort={(by) => filter({ sort: by })}
                selection={{ ids: selected, set: setSelected }}
                onOpen={(row) => void navigate({ to: "/definitions/$id", params: { id: row.id } })}
              />
              <Pager paging={paging} data={data} size={SIZE} />
            </>
          ) : (
            <div className="card">
              {filtered ? (
                <Empty
                  icon="search"
                  title={t("noneTitle")}
                  actions={
                    <Button
                      onClick={() =>
                        filter({ search: undefined, state: undefined, folder: undefined, label: undefined })
                      }
                    >
                      {t("reset")}
                    </Button>
                  }
                >
                  {t("none")}
                </Empty>
              ) : (
                <Empty
                  icon="flow"
                  title={t("emptyTitle")}
                  actions={
                    can("definitions:write") ? (
                      <Button kind="primary" icon="add" onClick={() => setRequest({ kind: "new" })}>
                        {t("new")}
                      </Button>
                    ) : undefined
                  }
                >
                  {t("empty")}
                </Empty>
              )}
            </div>
          )
        }
      </QueryView>
      {over ? (
        <div className="drop">
          <div className="stack" style={{ alignItems: "center" }}>
            <h2>{t("drop")}</h2>
            <span className="quiet">{t("dropHint")}</span>
          </div>
        </div>
      ) : null}
      {request ? (
        <Dialogs request={request} onClose={() => setRequest(null)} onDone={() => setSelected(new Set())} />
      ) : null}
      {imported ? <ImportResult files={imported} onClose={() => setImported(null)} /> : null}
    </div>
  );
}

type FilterProps = {
  filters: Record<string, string | undefined>;
  onChange: (changed: Record<string, string | undefined>) => void;
};

function Filters({ filters, onChange }: FilterProps) {
  // Folders and labels are few, so they are taken from one large page instead of a request of their own.
  const known = useQuery(definitions.known());
  const { folders, labels } = useMemo(() => facets(known.data?.items ?? []), [known.data]);
  return (
    <div className="row wrap">
      <div style={{ width: 280 }}>
        <SearchField
          label={t("search")}
          value={filters.search ?? ""}
          onChange={(e) => onChange({ search: e.target.value })}
        />
      </div>
      <Segments
        label={t("state")}
        value={(filters.state ?? "all") as "all" | "published" | "draft"}
        options={[
          { id: "all", label: t("all") },
          { id: "published", label: t("published") },
          { id: "draft", label: t("drafts") },
        ]}
        onChange={(state) => onChange({ state: state === "all" ? undefined : state })}
      />
      {folders.length > 0 ? (
        <select
          className="select"
          style={{ width: 180 }}
          aria-label={t("folder")}
          value={filters.folder ?? ""}
          onChange={(e) => onChange({ folder: e.target.value })}
        >
          <option value="">{t("folders")}</option>
          {folders.map((folder) => (
            <option key={folder} value={folder}>
              {folder}
            </option>
          ))}
        </select>
      ) : null}
      {labels.slice(0, 12).map((label) => (
        <button
          key={label}
          type="button"
          className="chip"
          aria-pressed={filters.label === label}
          onClick={() => onChange({ label: filters.label === label ? undefined : label })}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

const facets = (items: readonly DefinitionSummary[]) => ({
  folders: [...new Set(items.map((item) => item.folder).filter(Boolean))].sort(),
  labels: [...new Set(items.flatMap((item) => item.labels))].sort(),
});

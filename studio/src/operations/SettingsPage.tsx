import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/client";
import type { Setting } from "../api/types";
import { defineMessages } from "../i18n/messages";
import { Badge, Checkbox, Heading, QueryView, SearchField, Table, TextWithCode, Value } from "../ui";
import { sorted } from "./ListPage";

const t = defineMessages("settings", {
  title: "Settings",
  lead: "Configuration of this server, read from environment and files at startup",
  search: "Search settings",
  name: "Name",
  value: "Value",
  default: "Default",
  description: "Description",
  changed: "Changed",
  onlyChanged: "Only changed",
  secret: "secret",
});

export function SettingsPage() {
  const query = useQuery({
    queryKey: ["settings"],
    queryFn: () => api.get<Setting[]>("/api/settings"),
    staleTime: 60_000,
  });
  const [search, setSearch] = useState("");
  const [only, setOnly] = useState(false);
  const [sort, setSort] = useState("name");
  const isChanged = (one: Setting) => JSON.stringify(one.value) !== JSON.stringify(one.default);
  return (
    <div className="page">
      <header className="page-head">
        <Heading>{t("title")}</Heading>
        <span className="lead grow">{t("lead")}</span>
      </header>
      <div className="row wrap" style={{ gap: 16 }}>
        <div style={{ width: 280 }}>
          <SearchField label={t("search")} value={search} onChange={(e) => setSearch(e.target.value)} />
        </div>
        <Checkbox label={t("onlyChanged")} checked={only} onChange={(e) => setOnly(e.target.checked)} />
      </div>
      <QueryView query={query}>
        {(all) => (
          <Table<Setting>
            label={t("title")}
            rows={sorted(
              all.filter(
                (one) =>
                  (!only || isChanged(one)) &&
                  `${one.name} ${one.variable} ${one.description}`.toLowerCase().includes(search.toLowerCase()),
              ),
              sort,
            )}
            id={(row) => row.name}
            name={(row) => row.name}
            sort={sort}
            onSort={setSort}
            columns={[
              {
                id: "name",
                label: t("name"),
                sort: "name",
                cell: (row) => (
                  <div style={{ lineHeight: "18px" }}>
                    <b>{row.name}</b>
                    <div className="faint small value">{row.variable}</div>
                  </div>
                ),
              },
              {
                id: "value",
                label: t("value"),
                sort: "value",
                cell: (row) => (
                  <span className="row">
                    {row.secret ? <Badge>{t("secret")}</Badge> : <Value value={row.value} />}
                    {isChanged(row) ? <Badge tone="accent">{t("changed")}</Badge> : null}
                  </span>
                ),
              },
              { id: "default", label: t("default"), sort: "default", cell: (row) => <Value value={row.default} /> },
              {
                id: "description",
                label: t("description"),
                cell: (row) => (
                  <span className="quiet">
                    <TextWithCode text={row.description} />
                  </span>
                ),
              },
            ]}
          />
        )}
      </QueryView>
    </div>
  );
}

import "./versions.css";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { api } from "../api/client";
import { apiPath, definitions, invalidate } from "../api/queries";
import { useCan } from "../api/session";
import type { DefinitionSummary } from "../api/types";
import { defineMessages } from "../i18n/messages";
import { useFilters } from "../navigation/filters";
import { Badge, Confirm, Heading, Menu, QueryView, Segments, Timestamp, toast } from "../ui";
import { VersionDiff } from "./VersionDiff";

const t = defineMessages("versions", {
  title: "Versions of {name}",
  open: "Open designer",
  published: "Published",
  latest: "Latest",
  compare: "Compare",
  with: "with",
  from: "From version",
  to: "To version",
  version: "Version {n}",
  move: "Migrate instances to this version",
  rollback: "Roll back to this version",
  rollbackTitle: "Roll back to version {n}?",
  rollbackText: "Creates a draft equal to version {n}. The draft takes effect when you publish it.",
  rollbackOver:
    "Replaces the draft (version {draft}) with version {n}. Unpublished changes are lost. Export the draft first if you need it.",
  rolledBack: "Draft version {n} now equals version {old}.",
  delete: "Delete",
  deleteTitle: "Delete version {n}?",
  deleteText: "Instances on this version keep their copy of the definition.",
  actions: "Actions for version {n}",
  one: "Only one version exists. There is nothing to compare yet.",
  list: "Versions",
  view: "View",
  two: "Side by side",
  one1: "Combined",
});

/** All versions, the difference between two of them, and rollback. */
export function VersionsPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useQuery(definitions.versions(id));
  return (
    <QueryView query={query}>
      {(data) => <Versions id={id} items={[...data.items].sort((a, b) => b.version - a.version)} />}
    </QueryView>
  );
}

function Versions({ id, items }: { id: string; items: readonly DefinitionSummary[] }) {
  const can = useCan();
  const navigate = useNavigate();
  const [filters, setFilters] = useFilters();
  const [request, setRequest] = useState<{ kind: "rollback" | "delete"; version: number } | null>(null);
  const newest = items[0]?.version ?? 1;
  const to = Number(filters.to ?? newest);
  const from = Number(filters.from ?? items.find((one) => one.version < to)?.version ?? to);
  const name = items[0]?.name ?? id;
  const numbers = useMemo(() => items.map((one) => one.version), [items]);
  return (
    <div className="page flush">
      <header
        className="page-head"
        style={{ padding: "12px 24px", borderBottom: "1px solid var(--line)", background: "var(--surface)" }}
      >
        <Heading className="grow">{t("title", { name })}</Heading>
        <Link className="button" to="/definitions/$id" params={{ id }}>
          {t("open")}
        </Link>
      </header>
      <div className="versions">
        <ol aria-label={t("list")}>
          {items.map((one) => (
            <li key={one.version} className={one.version === to ? "chosen" : ""}>
              <button
                type="button"
                className="grow"
                onClick={() => setFilters({ to: String(one.version), from: undefined })}
              >
                <b>{t("version", { n: one.version })}</b>
                {one.is_published || one.published_version === one.version ? (
                  <Badge tone="ok">{t("published")}</Badge>
                ) : null}
                {one.version === newest ? <Badge>{t("latest")}</Badge> : null}
                <br />
                <span className="small">
                  <Timestamp at={one.updated} />
                </span>
              </button>
              <Menu
                small
                label={t("actions", { n: one.version })}
                items={[
                  can("operations:write") && {
                    label: t("move"),
                    icon: "wand",
                    onSelect: () =>
                      void navigate({ to: "/alterations", search: { definition: id, version: String(one.version) } }),
                  },
                  can("definitions:write") &&
                    one.origin === "api" &&
                    one.version !== newest && {
                      label: t("rollback"),
                      icon: "undo",
                      onSelect: () => setRequest({ kind: "rollback", version: one.version }),
                    },
                  can("definitions:write") &&
                    one.origin === "api" &&
                    !one.is_published && {
                      label: t("delete"),
                      icon: "trash",
                      danger: true,
                      onSelect: () => setRequest({ kind: "delete", version: one.version }),
                    },
                ]}
              />
            </li>
          ))}
        </ol>
        <section className="compare" aria-label={t("compare")}>
          {numbers.length < 2 ? (
            <p className="quiet" style={{ padding: 24 }}>
              {t("one")}
            </p>
          ) : (
            <>
              <div className="row wrap" style={{ padding: "8px 16px", borderBottom: "1px solid var(--line)" }}>
                <span className="quiet">{t("compare")}</span>
                <Pick
                  label={t("from")}
                  value={from}
                  numbers={numbers}
                  onChange={(n) => setFilters({ from: String(n) })}
                />
                <span className="quiet">{t("with")}</span>
                <Pick label={t("to")} value={to} numbers={numbers} onChange={(n) => setFilters({ to: String(n) })} />
                <span className="grow" />
                <Segments
                  label={t("view")}
                  value={filters.view === "one" ? "one" : "two"}
                  options={[
                    { id: "two", label: t("two") },
                    { id: "one", label: t("one1") },
                  ]}
                  onChange={(view) => setFilters({ view: view === "one" ? view : undefined })}
                />
              </div>
              <VersionDiff id={id} from={from} to={to} one={filters.view === "one"} />
            </>
          )}
        </section>
      </div>
      {request ? (
        <ConfirmAction
          id={id}
          request={request}
          draft={items[0] && !items[0].is_published ? items[0].version : null}
          onClose={() => setRequest(null)}
        />
      ) : null}
    </div>
  );
}

function Pick({
  label,
  value,
  numbers,
  onChange,
}: {
  label: string;
  value: number;
  numbers: readonly number[];
  onChange: (n: number) => void;
}) {
  return (
    <select
      className="select"
      style={{ width: 128 }}
      aria-label={label}
      value={value}
      onChange={(e) => onChange(Number(e.target.value))}
    >
      {numbers.map((n) => (
        <option key={n} value={n}>
          {t("version", { n })}
        </option>
      ))}
    </select>
  );
}

type ConfirmActionProps = {
  id: string;
  request: { kind: "rollback" | "delete"; version: number };
  draft: number | null;
  onClose: () => void;
};

function ConfirmAction({ id, request, draft, onClose }: ConfirmActionProps) {
  const [busy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    try {
      if (request.kind === "rollback") {
        const made = await api.post<DefinitionSummary | { summary: DefinitionSummary }>(
          apiPath("definitions", id, "revert"),
          {
            version: request.version,
          },
        );
        const summary = "summary" in made ? made.summary : made;
        toast.done(t("rolledBack", { n: summary.version, old: request.version }));
      } else await api.delete(apiPath("definitions", id, "versions", String(request.version)));
      await invalidate("definitions");
    } catch (error) {
      toast.failed(error);
    }
    onClose();
  };
  const back = request.kind === "rollback";
  return (
    <Confirm
      title={t(back ? "rollbackTitle" : "deleteTitle", { n: request.version })}
      action={t(back ? "rollback" : "delete")}
      danger={!back || draft !== null}
      busy={busy}
      onConfirm={() => void go()}
      onClose={onClose}
    >
      <p>
        {back && draft !== null
          ? t("rollbackOver", { n: request.version, draft })
          : t(back ? "rollbackText" : "deleteText", { n: request.version })}
      </p>
    </Confirm>
  );
}

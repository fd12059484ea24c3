import "./instance.css";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { instances } from "../api/queries";
import type { InstanceDetail, JournalEntry } from "../api/types";
import { useActivityNames } from "../catalogue/activityNames";
import { GraphView } from "../diagram/GraphView";
import { useFilters } from "../navigation/filters";
import { PluginMount } from "../plugins/PluginMount";
import { usePlugins } from "../plugins/registry";
import { Heading, QueryView, Segments, StatusBadge, Tabs } from "../ui";
import { ActivityPanel } from "./ActivityPanel";
import { DetailsPanel } from "./DetailsPanel";
import { Gantt } from "./Gantt";
import { HierarchyPanel, ParentLink } from "./HierarchyPanel";
import { IncidentsPanel } from "./IncidentsPanel";
import { InstanceActions } from "./InstanceActions";
import { t } from "./instanceMessages";
import { JournalPanel } from "./JournalPanel";
import { PastBanner } from "./PastBanner";
import { hasSource, PythonSource } from "./PythonSource";
import { TimeSlider } from "./TimeSlider";
import { momentAt } from "./timeTravel";
import { useLiveInstance } from "./useLive";
import { VariablesPanel } from "./VariablesPanel";
import { WaitBanner } from "./WaitBanner";

const NOTHING: readonly JournalEntry[] = [];
const ENDED = new Set(["finished", "faulted", "canceled"]);

export function InstancePage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useQuery({
    ...instances.one(id),
    // The WebSocket reports changes. Polling covers proxies that block it.
    refetchInterval: ({ state }) => (state.data && !ENDED.has(state.data.status) ? 5_000 : false),
  });
  return <QueryView query={query}>{(detail) => <Instance key={id} detail={detail} />}</QueryView>;
}

type View = "drawing" | "timeline" | "source";
type PanelId = "journal" | "activity" | "variables" | "incidents" | "family" | "details" | (string & {});

function Instance({ detail }: { detail: InstanceDetail }) {
  const journal = useQuery(instances.journal(detail.id));
  const entries = journal.data ?? NOTHING;
  const live = useLiveInstance(detail.id);
  const [filters, setFilters] = useFilters();
  const [at, setAt] = useState<number | null>(null);
  const [selected, setSelected] = useState<string | null>(filters.activity ?? null);
  const view = (filters.view ?? "drawing") as View;
  const panel: PanelId = filters.tab ?? (detail.incidents > 0 ? "incidents" : "journal");
  const document = detail.document;
  const names = useActivityNames(document);
  const moment = useMemo(() => momentAt(document, entries, at ?? entries.length), [document, entries, at]);
  const statuses = useMemo(
    () => (at === null ? withLiveState(moment.statuses, detail) : moment.statuses),
    [at, moment, detail],
  );
  const panels = usePlugins((plugins) => plugins.panels);
  const mine = panels.filter((one) => one.on === "instance");
  const open = detail.state.incidents.filter((one) => one.open).length;

  const show = (activity: string | null, tab?: PanelId) => {
    setSelected(activity);
    setFilters({ activity: activity ?? undefined, ...(tab ? { tab } : {}) });
  };

  const named = detail.name || detail.definition_name || detail.definition_id;
  return (
    <div className="instance">
      <header>
        <StatusBadge status={detail.status} />
        <Heading>{named}</Heading>
        {detail.parent_id ? <ParentLink id={detail.parent_id} /> : null}
        <Link
          to="/definitions/$id"
          params={{ id: detail.definition_id }}
          search={{ version: String(detail.definition_version) }}
        >
          {t("version", { n: detail.definition_version })}
        </Link>
        <span className="faint value clip grow">{detail.id}</span>
        <Segments
          label={t("view")}
          value={view}
          options={[
            { id: "drawing", label: t("drawing") },
            { id: "timeline", label: t("timeline") },
            ...(hasSource(document) ? [{ id: "source" as const, label: t("source") }] : []),
          ]}
          onChange={(id) => setFilters({ view: id === "drawing" ? undefined : id })}
        />
        <InstanceActions detail={detail} names={names} />
      </header>
      <div className="notes" role="status">
        {detail.unreadable ? <div className="banner bad">{t("unreadable", { why: detail.unreadable })}</div> : null}
        {at === null ? <WaitBanner detail={detail} names={names} onShow={(id) => show(id, "activity")} /> : null}
        {at !== null ? <PastBanner detail={detail} at={at} entry={moment.entry} onNow={() => setAt(null)} /> : null}
      </div>
      <div className="stage">
        {view === "timeline" ? (
          <Gantt
            entries={at === null ? entries : entries.slice(0, at)}
            names={names}
            ended={detail.finished}
            selected={selected}
            onSelect={(id) => show(id, "activity")}
          />
        ) : view === "source" ? (
          <PythonSource document={document} here={at === null ? (selected ?? currentActivity(detail)) : moment.here} />
        ) : (
          <GraphView
            document={document}
            statuses={statuses}
            selected={selected ?? moment.here}
            onSelect={(id) => show(id, id ? "activity" : undefined)}
          />
        )}
      </div>
      <TimeSlider count={entries.length} at={at} onChange={setAt} live={live.connected} />
      <aside className="side-panel" aria-label={t("panel")}>
        <Tabs
          label={t("panel")}
          value={panel}
          tabs={[
            { id: "journal", label: t("journal") },
            { id: "activity", label: t("activity") },
            { id: "variables", label: t("variables") },
            { id: "incidents", label: t("incidents"), count: open || undefined },
            { id: "family", label: t("family") },
            { id: "details", label: t("details") },
            ...mine.map((one) => ({ id: one.id, label: one.title })),
          ]}
          onChange={(tab) => setFilters({ tab })}
        />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a tab panel takes the focus, so that the keyboard can scroll it */}
        <div className="body" role="tabpanel" tabIndex={0}>
          {panel === "journal" ? (
            <JournalPanel
              entries={entries}
              names={names}
              at={at}
              selected={selected}
              onSelect={(entry) => show(entry.activity_id)}
              onMoment={setAt}
            />
          ) : null}
          {panel === "activity" ? (
            <ActivityPanel detail={detail} names={names} activity={selected} entries={entries} />
          ) : null}
          {panel === "variables" ? (
            <VariablesPanel
              detail={detail}
              names={names}
              entries={entries}
              moment={at === null ? null : moment}
              onMoment={setAt}
            />
          ) : null}
          {panel === "incidents" ? <IncidentsPanel detail={detail} names={names} onShow={(id) => show(id)} /> : null}
          {panel === "family" ? <HierarchyPanel detail={detail} /> : null}
          {panel === "details" ? <DetailsPanel detail={detail} names={names} /> : null}
          {mine
            .filter((one) => one.id === panel)
            .map((one) => (
              <PluginMount key={one.id} mount={one} properties={{ kind: "instance", id: detail.id, data: detail }} />
            ))}
        </div>
      </aside>
    </div>
  );
}

/** The journal records the past; the state knows what is active now. */
function withLiveState(
  recorded: Record<string, { status: string; count: number; hint?: string }>,
  detail: InstanceDetail,
) {
  const statuses = { ...recorded };
  const mark = (id: string | null, status: string) => {
    if (id) statuses[id] = { count: 0, ...statuses[id], status };
  };
  for (const bookmark of detail.state.bookmarks) mark(bookmark.activity_id, "waiting");
  for (const incident of detail.state.incidents) if (incident.open) mark(incident.activity_id, "faulted");
  return statuses;
}

const currentActivity = (detail: InstanceDetail): string | null =>
  detail.state.incidents.find((one) => one.open)?.activity_id ?? detail.state.bookmarks[0]?.activity_id ?? null;

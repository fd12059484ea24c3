import "./dashboard.css";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { statistics } from "../api/queries";
import type { Statistics } from "../api/types";
import { defineMessages } from "../i18n/messages";
import { useLiveList } from "../instances/useLive";
import { Badge, duration, Heading, Icon, QueryView, Segments, Table, Timestamp } from "../ui";
import { groupByCause } from "./attention";
import { sorted } from "./ListPage";
import { ThroughputChart } from "./ThroughputChart";

const t = defineMessages("dashboard", {
  title: "Dashboard",
  range: "Range",
  h1: "1 hour",
  h24: "24 hours",
  d7: "7 days",
  d30: "30 days",
  running: "Running",
  suspended: "Suspended",
  faulted: "Faulted",
  incidents: "Open incidents",
  stuck: "Stuck",
  dead: "Dead letters",
  queue: "Queued work",
  later: "{n} later",
  throughput: "Throughput",
  durations: "Durations",
  median: "Median duration",
  p95: "95th percentile",
  p99: "99th percentile",
  samples: "Based on {n|instance|instances}",
  oldest: "Longest waiting",
  attention: "Needs attention",
  nothing: "Nothing needs attention.",
  alike: "{n} more with the same cause",
  byDefinition: "By definition",
  definition: "Definition",
  started: "Started",
  finished: "Finished",
  sampled: "Durations are estimated from a sample of the instances.",
});

const RANGES = ["1h", "24h", "7d", "30d"] as const;
const NAMES = { "1h": "h1", "24h": "h24", "7d": "d7", "30d": "d30" } as const;

export function DashboardPage() {
  const [range, setRange] = useState<(typeof RANGES)[number]>("24h");
  const query = useQuery(statistics(range));
  useLiveList(2_000);
  return (
    <div className="page">
      <header className="page-head">
        <Heading className="grow">{t("title")}</Heading>
        <Segments
          label={t("range")}
          value={range}
          options={RANGES.map((id) => ({ id, label: t(NAMES[id]) }))}
          onChange={setRange}
        />
      </header>
      <QueryView query={query}>{(data) => <Figures data={data} />}</QueryView>
    </div>
  );
}

function Figures({ data }: { data: Statistics }) {
  const [sort, setSort] = useState("-started");
  return (
    <>
      <div className="figures">
        <Figure name={t("running")} value={data.by_status.running ?? 0} status="running" />
        <Figure name={t("suspended")} value={data.by_status.suspended ?? 0} status="suspended" />
        <Figure name={t("faulted")} value={data.by_status.faulted ?? 0} status="faulted" bad />
        <Link
          to="/instances"
          search={{ incidents: "1" }}
          className={`card figure ${data.incidents_open > 0 ? "bad" : ""}`}
        >
          <span className="quiet">{t("incidents")}</span>
          <span className="big">{data.incidents_open}</span>
        </Link>
        <div className={`card figure ${data.stuck > 0 ? "bad" : ""}`}>
          <span className="quiet">{t("stuck")}</span>
          <span className="big">{data.stuck}</span>
        </div>
        <Link to="/dead-letters" className={`card figure ${data.dead_letters > 0 ? "bad" : ""}`}>
          <span className="quiet">{t("dead")}</span>
          <span className="big">{data.dead_letters}</span>
        </Link>
        <div className="card figure">
          <span className="quiet">{t("queue")}</span>
          <span className="big">
            {data.work_ready} <span className="faint small">{t("later", { n: data.work_later })}</span>
          </span>
        </div>
      </div>
      {data.sampled ? <div className="banner wait">{t("sampled")}</div> : null}
      <div className="columns">
        <div className="stack loose">
          <section className="card padded stack">
            <h2>{t("throughput")}</h2>
            <ThroughputChart points={data.throughput} interval={data.interval} />
          </section>
          {data.by_definition.length > 0 ? (
            <Table
              label={t("byDefinition")}
              rows={sorted(data.by_definition, sort)}
              id={(row) => row.definition_id}
              name={(row) => row.name}
              sort={sort}
              onSort={setSort}
              columns={[
                {
                  id: "definition",
                  label: t("definition"),
                  sort: "name",
                  cell: (row) => (
                    <Link className="name" to="/definitions/$id" params={{ id: row.definition_id }}>
                      {row.name || row.definition_id}
                    </Link>
                  ),
                },
                { id: "started", label: t("started"), sort: "started", number: true, cell: (row) => row.started },
                { id: "finished", label: t("finished"), sort: "finished", number: true, cell: (row) => row.finished },
                {
                  id: "faulted",
                  label: t("faulted"),
                  sort: "faulted",
                  number: true,
                  cell: (row) => (row.faulted ? <Badge tone="bad">{row.faulted}</Badge> : 0),
                },
                {
                  id: "incidents",
                  label: t("incidents"),
                  sort: "incidents",
                  number: true,
                  cell: (row) => row.incidents,
                },
                {
                  id: "p50",
                  label: t("median"),
                  sort: "p50_ms",
                  number: true,
                  cell: (row) => (row.p50_ms === null ? "–" : duration(row.p50_ms)),
                },
                {
                  id: "p95",
                  label: t("p95"),
                  sort: "p95_ms",
                  number: true,
                  cell: (row) => (row.p95_ms === null ? "–" : duration(row.p95_ms)),
                },
              ]}
            />
          ) : null}
        </div>
        <div className="stack loose">
          <section className="card padded stack">
            <h2>{t("attention")}</h2>
            {data.needs_attention.length === 0 ? (
              <p className="row quiet">
                <Icon name="check" /> {t("nothing")}
              </p>
            ) : (
              <ul className="attention">
                {groupByCause(data.needs_attention).map(({ one, count }) => (
                  <li key={`${one.kind} ${one.message}`}>
                    <Badge tone="bad">{one.kind.replace("_", " ")}</Badge>
                    <span className="grow" style={{ overflowWrap: "anywhere" }}>
                      {one.instance_id ? (
                        <Link to="/instances/$id" params={{ id: one.instance_id }}>
                          {one.message}
                        </Link>
                      ) : (
                        one.message
                      )}{" "}
                      <Timestamp at={one.at} />
                      {count > 1 ? (
                        <>
                          {" · "}
                          <Link to="/instances" search={{ incidents: "1" }}>
                            {t("alike", { n: count - 1 })}
                          </Link>
                        </>
                      ) : null}
                    </span>
                  </li>
                ))}
              </ul>
            )}
          </section>
          <section className="card padded stack">
            <h2>{t("durations")}</h2>
            <dl className="facts">
              <dt>{t("median")}</dt>
              <dd>{data.durations.p50_ms === null ? "–" : duration(data.durations.p50_ms)}</dd>
              <dt>{t("p95")}</dt>
              <dd>{data.durations.p95_ms === null ? "–" : duration(data.durations.p95_ms)}</dd>
              <dt>{t("p99")}</dt>
              <dd>{data.durations.p99_ms === null ? "–" : duration(data.durations.p99_ms)}</dd>
            </dl>
            <p className="faint small">{t("samples", { n: data.durations.samples })}</p>
          </section>
          {data.oldest_waiting ? (
            <section className="card padded stack">
              <h2>{t("oldest")}</h2>
              <Link to="/instances/$id" params={{ id: data.oldest_waiting.id }}>
                {data.oldest_waiting.name || data.oldest_waiting.definition_name || data.oldest_waiting.id}
              </Link>
              <Timestamp at={data.oldest_waiting.created} />
            </section>
          ) : null}
        </div>
      </div>
    </>
  );
}

function Figure({ name, value, status, bad }: { name: string; value: number; status: string; bad?: boolean }) {
  return (
    <Link to="/instances" search={{ status }} className={`card figure ${bad && value > 0 ? "bad" : ""}`}>
      <span className="quiet">{name}</span>
      <span className="big">{value}</span>
    </Link>
  );
}

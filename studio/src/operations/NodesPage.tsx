import { useQuery } from "@tanstack/react-query";
import { api } from "../api/client";
import { invalidate } from "../api/queries";
import { useCan } from "../api/session";
import type { NodeItem, NodeList } from "../api/types";
import { defineMessages } from "../i18n/messages";
import { Badge, Button, Heading, QueryView, Table, Timestamp, toast } from "../ui";

const t = defineMessages("nodes", {
  title: "Nodes",
  lead: "Processes that run workflows",
  id: "Node",
  state: "State",
  alive: "Alive",
  gone: "Lost",
  started: "Started",
  heartbeat: "Last heartbeat",
  host: "Host and process id",
  queues: "Queues",
  waits: "Paused",
  this: "this node",
  pause: "Pause this node",
  resume: "Resume this node",
  paused: "Node paused. It takes no new work.",
  resumed: "Node resumed.",
  unserved: "No node serves the queue “{queue}”. Work is waiting.",
});

export function NodesPage() {
  const can = useCan();
  const query = useQuery({
    queryKey: ["nodes"],
    queryFn: () => api.get<NodeList>("/api/nodes"),
    refetchInterval: 5_000,
  });
  const here = query.data?.items.find((one) => one.this);
  const act = (verb: "pause" | "resume") =>
    void api
      .post(`/api/nodes/this/${verb}`)
      .then(() => {
        toast.done(t(verb === "pause" ? "paused" : "resumed"));
        return invalidate("nodes");
      })
      .catch(toast.failed);
  return (
    <div className="page">
      <header className="page-head">
        <Heading>{t("title")}</Heading>
        <span className="lead grow">{t("lead")}</span>
        {can("operations:write") && here !== undefined ? (
          <Button icon={here.paused ? "play" : "pause"} onClick={() => act(here.paused ? "resume" : "pause")}>
            {t(here.paused ? "resume" : "pause")}
          </Button>
        ) : null}
      </header>
      <QueryView query={query}>
        {(data) => (
          <>
            {data.unserved.map((one) => (
              <div key={one.queue} className="banner wait">
                {t("unserved", { queue: one.queue })} <Timestamp at={one.since} />
              </div>
            ))}
            <Table<NodeItem>
              label={t("title")}
              rows={data.items}
              id={(row) => row.id}
              name={(row) => row.id}
              columns={[
                {
                  id: "id",
                  label: t("id"),
                  cell: (row) => (
                    <span className="row">
                      <b>{row.id}</b>
                      {row.this ? <Badge tone="accent">{t("this")}</Badge> : null}
                    </span>
                  ),
                },
                {
                  id: "alive",
                  label: t("state"),
                  cell: (row) => (
                    <span className="row" style={{ gap: 4 }}>
                      <Badge tone={row.alive ? "ok" : "bad"}>{row.alive ? row.state || t("alive") : t("gone")}</Badge>
                      {row.paused ? <Badge tone="wait">{t("waits")}</Badge> : null}
                    </span>
                  ),
                },
                {
                  id: "host",
                  label: t("host"),
                  cell: (row) => <span className="value">{`${row.host} · ${row.pid}`}</span>,
                },
                { id: "queues", label: t("queues"), cell: (row) => row.queues.join(", ") },
                { id: "started", label: t("started"), cell: (row) => <Timestamp at={row.started} /> },
                { id: "heartbeat", label: t("heartbeat"), cell: (row) => <Timestamp at={row.heartbeat} /> },
              ]}
            />
          </>
        )}
      </QueryView>
    </div>
  );
}

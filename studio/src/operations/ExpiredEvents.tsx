/** Events that no instance consumed in time, with a replay; shown below the dead letters if there are any. */
import { useQuery } from "@tanstack/react-query";
import { api } from "../api/client";
import { invalidate, list } from "../api/queries";
import { useCan } from "../api/session";
import type { ExpiredEvent } from "../api/types";
import { defineMessages } from "../i18n/messages";
import { Badge, Button, Table, Timestamp, toast, Value } from "../ui";

const t = defineMessages("expiredEvents", {
  title: "Expired events",
  lead: "No instance waited for these events in time. A replay matches an event again.",
  event: "Event",
  key: "Key",
  correlation: "Correlation",
  arrived: "Arrived",
  expired: "Expired",
  replay: "Replay",
  replayed: "Replayed {n}",
});

export function ExpiredEvents() {
  const query = useQuery({ ...list<ExpiredEvent>("stimuli/expired", { limit: 200 }), refetchInterval: 10_000 });
  const writable = useCan()("operations:write");
  const rows = Array.isArray(query.data) ? (query.data as ExpiredEvent[]) : [];
  if (rows.length === 0) return null;
  const replay = async (id: string) => {
    try {
      const { count } = await api.post<{ count: number }>("/api/stimuli/expired/replay", { ids: [id] });
      toast.done(t("replayed", { n: count }));
      await invalidate("stimuli/expired", "instances", "statistics");
    } catch (error) {
      toast.failed(error);
    }
  };
  return (
    <section className="page" aria-label={t("title")}>
      <h2>{t("title")}</h2>
      <p className="lead">{t("lead")}</p>
      <Table<ExpiredEvent>
        label={t("title")}
        rows={rows}
        id={(row) => row.id}
        name={(row) => row.id}
        columns={[
          { id: "event", label: t("event"), cell: (row) => <Badge>{row.event_name ?? row.type}</Badge> },
          { id: "key", label: t("key"), cell: (row) => (row.key == null ? null : <Value value={row.key} />) },
          { id: "correlation", label: t("correlation"), cell: (row) => row.correlation_id },
          { id: "arrived", label: t("arrived"), cell: (row) => <Timestamp at={row.arrived} /> },
          { id: "expired", label: t("expired"), cell: (row) => <Timestamp at={row.expired} /> },
          {
            id: "actions",
            label: "",
            tight: true,
            cell: (row) =>
              writable ? (
                <Button small icon="refresh" onClick={() => void replay(row.id)}>
                  {t("replay")}
                </Button>
              ) : null,
          },
        ]}
      />
    </section>
  );
}

import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../api/client";
import { invalidate } from "../api/queries";
import { useCan } from "../api/session";
import type { DeadLetter } from "../api/types";
import { defineMessages } from "../i18n/messages";
import { Badge, Button, Confirm, Dialog, Id, Json, Menu, Timestamp, toast } from "../ui";
import { ExpiredEvents } from "./ExpiredEvents";
import { ListPage } from "./ListPage";

const t = defineMessages("deadLetters", {
  title: "Dead letters",
  lead: "Work items that failed too often and were set aside",
  kind: "Kind",
  queue: "Queue",
  reason: "Reason",
  instance: "Instance",
  attempts: "Attempts",
  died: "Dead since",
  replay: "Replay",
  discard: "Discard",
  show: "Show",
  selected: "{n|dead letter|dead letters} selected",
  clear: "Clear",
  actions: "Actions",
  discardTitle: "Discard {n|dead letter|dead letters}?",
  discardText: "The work is dropped for good. This cannot be undone.",
  replayed: "Replayed {n}",
  discarded: "Discarded {n}",
  detail: "Dead letter {id}",
  error: "Error",
  payload: "Payload",
  emptyTitle: "No dead letters",
  empty: "Queued work that fails too often appears here with its reason and can be replayed.",
});

export function DeadLettersPage() {
  const can = useCan();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [discarded, setDiscarded] = useState<readonly string[] | null>(null);
  const [shown, setShown] = useState<DeadLetter | null>(null);
  const send = async (verb: "replay" | "discard", ids: readonly string[]) => {
    try {
      const { count } = await api.post<{ count: number }>(`/api/dead-letters/${verb}`, { ids });
      toast.done(t(verb === "replay" ? "replayed" : "discarded", { n: count }));
      setSelected(new Set());
      await invalidate("dead-letters", "instances", "statistics");
    } catch (error) {
      toast.failed(error);
    }
  };
  const writable = can("operations:write");
  return (
    <>
      <ListPage<DeadLetter>
        title={t("title")}
        lead={t("lead")}
        resource="dead-letters"
        icon="check"
        refresh={10_000}
        emptyTitle={t("emptyTitle")}
        empty={t("empty")}
        id={(row) => row.id}
        name={(row) => row.id}
        selection={writable ? { ids: selected, set: setSelected } : undefined}
        above={
          selected.size > 0 ? (
            <div className="bulk" role="toolbar" aria-label={t("actions")}>
              <span className="grow">{t("selected", { n: selected.size })}</span>
              <Button small icon="refresh" onClick={() => void send("replay", [...selected])}>
                {t("replay")}
              </Button>
              <Button small danger icon="trash" onClick={() => setDiscarded([...selected])}>
                {t("discard")}
              </Button>
              <Button small kind="plain" onClick={() => setSelected(new Set())}>
                {t("clear")}
              </Button>
            </div>
          ) : undefined
        }
        columns={[
          { id: "kind", label: t("kind"), sort: "kind", cell: (row) => <Badge>{row.kind}</Badge> },
          { id: "queue", label: t("queue"), sort: "queue", cell: (row) => row.queue },
          {
            id: "reason",
            label: t("reason"),
            sort: "reason",
            cell: (row) => <span title={row.reason}>{row.reason}</span>,
          },
          {
            id: "instance",
            label: t("instance"),
            sort: "instance_id",
            cell: (row) =>
              row.instance_id ? (
                <span className="row">
                  <Link to="/instances/$id" params={{ id: row.instance_id }}>
                    {row.instance_id.slice(-10)}
                  </Link>
                </span>
              ) : null,
          },
          { id: "attempts", label: t("attempts"), sort: "attempts", number: true, cell: (row) => row.attempts },
          { id: "died", label: t("died"), sort: "died", cell: (row) => <Timestamp at={row.died} /> },
          {
            id: "actions",
            label: "",
            tight: true,
            cell: (row) => (
              <Menu
                small
                label={`${t("actions")}: ${row.id}`}
                items={[
                  { label: t("show"), icon: "eye", onSelect: () => setShown(row) },
                  writable && { label: t("replay"), icon: "refresh", onSelect: () => void send("replay", [row.id]) },
                  writable && {
                    label: t("discard"),
                    icon: "trash",
                    danger: true,
                    onSelect: () => setDiscarded([row.id]),
                  },
                ]}
              />
            ),
          },
        ]}
      />
      <ExpiredEvents />
      {discarded ? (
        <Confirm
          title={t("discardTitle", { n: discarded.length })}
          action={t("discard")}
          danger
          onClose={() => setDiscarded(null)}
          onConfirm={() => {
            void send("discard", discarded);
            setDiscarded(null);
          }}
        >
          <p>{t("discardText")}</p>
        </Confirm>
      ) : null}
      {shown ? (
        <Dialog title={t("detail", { id: shown.id })} wide onClose={() => setShown(null)}>
          <Id id={shown.id} />
          <p>{shown.reason}</p>
          <h3>{t("error")}</h3>
          <Json value={shown.error} label={t("error")} />
          <h3>{t("payload")}</h3>
          <Json value={shown.payload} label={t("payload")} />
        </Dialog>
      ) : null}
    </>
  );
}

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, download } from "../api/client";
import { apiPath, instances } from "../api/queries";
import { useCan } from "../api/session";
import type { InstanceDetail } from "../api/types";
import type { ActivityNames } from "../catalogue/activityNames";
import { Button, Menu, toast } from "../ui";
import { type BulkAction, fork, isHeld } from "./actions";
import { BulkConfirm } from "./BulkConfirm";
import { IncidentDialog } from "./IncidentDialog";
import { nameOf } from "./IncidentsPanel";
import { t } from "./instanceMessages";

/** Actions available for this instance and this user. */
export function InstanceActions({ detail, names }: { detail: InstanceDetail; names: ActivityNames }) {
  const can = useCan();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<BulkAction | "recover" | null>(null);
  const writable = can("instances:write");
  // For a single failed activity the inputs are shown; several are retried together.
  const open = useQuery({ ...instances.incidents(detail.id), enabled: writable && detail.incidents > 0 }).data?.filter(
    (one) => one.open,
  );
  const failed = open?.filter((one) => !isHeld(one));
  const only = failed?.length === 1 ? failed[0] : undefined;
  const held = open?.find(isHeld);
  const alive = detail.status !== "canceled" && detail.status !== "finished";
  const go = async () => {
    const id = await fork(detail.id);
    void navigate({ to: "/instances/$id", params: { id } });
  };
  const exportState = async () => {
    const state = await api.get<unknown>(apiPath("instances", detail.id, "export"));
    download(`${detail.id}.json`, JSON.stringify(state, null, 2));
  };
  return (
    <>
      {writable && held ? (
        <Button kind="primary" icon="refresh" onClick={() => setDialog("recover")}>
          {t("recover")}
        </Button>
      ) : null}
      {writable && detail.incidents > 0 && failed?.length !== 0 ? (
        <Button kind="primary" icon="refresh" disabled={failed === undefined} onClick={() => setDialog("retry")}>
          {t("retry")}
        </Button>
      ) : null}
      {writable && alive ? (
        <Button icon="stop" onClick={() => setDialog("cancel")}>
          {t("cancel")}
        </Button>
      ) : null}
      <Menu
        label={t("actions")}
        items={[
          can("definitions:read") && {
            label: t("edit"),
            icon: "flow",
            onSelect: () => void navigate({ to: "/definitions/$id", params: { id: detail.definition_id } }),
          },
          can("operations:write") && {
            label: t("alter"),
            icon: "wand",
            onSelect: () => void navigate({ to: "/alterations", search: { ids: detail.id } }),
          },
          writable && { label: t("fork"), icon: "fork", onSelect: () => void go().catch(toast.failed) },
          { label: t("export"), icon: "download", onSelect: () => void exportState().catch(toast.failed) },
          "line",
          can("instances:delete") && {
            label: t("delete"),
            icon: "trash",
            danger: true,
            onSelect: () => setDialog("delete"),
          },
        ]}
      />
      {dialog === "retry" && only ? (
        <IncidentDialog
          detail={detail}
          name={nameOf(only, names)}
          incident={only}
          verb="retry"
          onClose={() => setDialog(null)}
        />
      ) : null}
      {dialog === "recover" && held ? (
        <IncidentDialog
          detail={detail}
          name={nameOf(held, names)}
          incident={held}
          verb="recover"
          onClose={() => setDialog(null)}
        />
      ) : null}
      {dialog && dialog !== "recover" && !(dialog === "retry" && only) ? (
        <BulkConfirm
          action={dialog}
          chosen={{ ids: [detail.id] }}
          onClose={() => setDialog(null)}
          onDone={() => {
            if (dialog === "delete") void navigate({ to: "/instances" });
          }}
        />
      ) : null}
    </>
  );
}

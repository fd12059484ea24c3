import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { api } from "../api/client";
import { apiPath, invalidate } from "../api/queries";
import type { DefinitionDetail, DefinitionSummary } from "../api/types";
import { Button, Confirm, Dialog, TextField, toast } from "../ui";
import { bulk } from "./actions";
import { t } from "./messages";
import { NewDialog } from "./NewDialog";
import { RunDialog } from "./RunDialog";

/** Request to open a dialog. */
export type DialogRequest =
  | { kind: "new" }
  | { kind: "run" | "duplicate"; row: DefinitionSummary }
  | { kind: "versions" | "instances"; row: DefinitionSummary }
  | { kind: "delete" | "retract"; ids: readonly string[] }
  | { kind: "label"; ids: readonly string[]; row?: DefinitionSummary };

export function Dialogs({
  request,
  onClose,
  onDone,
}: {
  request: DialogRequest;
  onClose: () => void;
  onDone: () => void;
}) {
  switch (request.kind) {
    case "new":
      return <NewDialog onClose={onClose} />;
    case "run":
      return <RunDialog id={request.row.id} onClose={onClose} />;
    case "duplicate":
      return <Duplicate row={request.row} onClose={onClose} />;
    case "label":
      return <Labels ids={request.ids} row={request.row} onClose={onClose} onDone={onDone} />;
    case "delete":
    case "retract":
      return <ConfirmAction kind={request.kind} ids={request.ids} onClose={onClose} onDone={onDone} />;
    case "versions":
    case "instances":
      return <Redirect request={request} onClose={onClose} />;
  }
}

function Redirect({
  request,
  onClose,
}: {
  request: { kind: "versions" | "instances"; row: DefinitionSummary };
  onClose: () => void;
}) {
  const navigate = useNavigate();
  useEffect(() => {
    onClose();
    if (request.kind === "versions") void navigate({ to: "/definitions/$id/versions", params: { id: request.row.id } });
    else void navigate({ to: "/instances", search: { definition_id: request.row.id } });
  }, [request, navigate, onClose]);
  return null;
}

type ConfirmActionProps = {
  kind: "delete" | "retract";
  ids: readonly string[];
  onClose: () => void;
  onDone: () => void;
};

function ConfirmAction({ kind, ids, onClose, onDone }: ConfirmActionProps) {
  const [busy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    await bulk(kind, ids).then(onDone, toast.failed);
    onClose();
  };
  return (
    <Confirm
      title={t(kind === "delete" ? "deleteTitle" : "retractTitle", { n: ids.length })}
      action={t(kind)}
      danger={kind === "delete"}
      busy={busy}
      onConfirm={() => void go()}
      onClose={onClose}
    >
      <p>{t(kind === "delete" ? "deleteText" : "retractText")}</p>
      <p className="mono">{ids.slice(0, 8).join(", ") + (ids.length > 8 ? " …" : "")}</p>
    </Confirm>
  );
}

function Duplicate({ row, onClose }: { row: DefinitionSummary; onClose: () => void }) {
  const navigate = useNavigate();
  const [id, setId] = useState(`${row.id}-copy`);
  const [name, setName] = useState(`${row.name || row.id} copy`);
  const [problem, setProblem] = useState<string>();
  const go = async () => {
    try {
      const made = await api.post<DefinitionDetail | DefinitionSummary>(apiPath("definitions", row.id, "duplicate"), {
        id,
        name,
      });
      await invalidate("definitions");
      onClose();
      void navigate({ to: "/definitions/$id", params: { id: "summary" in made ? made.summary.id : made.id } });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Dialog
      title={t("duplicateTitle", { name: row.name || row.id })}
      onClose={onClose}
      onSubmit={() => void go()}
      foot={
        <Button type="submit" kind="primary" disabled={!id}>
          {t("duplicate")}
        </Button>
      }
    >
      <TextField label={t("newName")} value={name} onChange={(e) => setName(e.target.value)} />
      <TextField
        label={t("newId")}
        value={id}
        hint={t("idHint")}
        problem={problem}
        onChange={(e) => setId(e.target.value)}
      />
    </Dialog>
  );
}

type LabelsProps = {
  ids: readonly string[];
  row?: DefinitionSummary | undefined;
  onClose: () => void;
  onDone: () => void;
};

function Labels({ ids, row, onClose, onDone }: LabelsProps) {
  const [folder, setFolder] = useState(row?.folder ?? "");
  const [labels, setLabels] = useState(row?.labels.join(", ") ?? "");
  const go = async () => {
    const list = labels
      .split(",")
      .map((label) => label.trim())
      .filter(Boolean);
    await bulk("label", ids, { labels: list, folder: folder.trim() }).then(onDone, toast.failed);
    onClose();
  };
  return (
    <Dialog
      title={t("move")}
      onClose={onClose}
      onSubmit={() => void go()}
      foot={
        <Button type="submit" kind="primary">
          {t("save")}
        </Button>
      }
    >
      <TextField
        label={t("folder")}
        value={folder}
        hint={t("folderHint")}
        onChange={(e) => setFolder(e.target.value)}
      />
      <TextField
        label={t("labels")}
        value={labels}
        hint={t("labelsHint")}
        onChange={(e) => setLabels(e.target.value)}
      />
    </Dialog>
  );
}

import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../api/client";
import { ApiError } from "../api/errors";
import { invalidate } from "../api/queries";
import { Button, Dialog, SelectField, TextArea, TextField } from "../ui";
import { slugOf } from "./actions";
import { t } from "./messages";

const ROOTS: Record<string, Record<string, unknown>> = {
  flowchart: { id: "root", type: "Flowchart", activities: [], connections: [] },
  sequence: { id: "root", type: "Sequence", activities: [] },
  stateMachine: { id: "root", type: "StateMachine", states: [] },
};

export function NewDialog({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [id, setId] = useState<string>();
  const [kind, setKind] = useState("flowchart");
  const [description, setDescription] = useState("");
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const key = id ?? slugOf(name);
  const create = async () => {
    setBusy(true);
    const document = {
      format: "holdfast/definition@1",
      id: key,
      name,
      ...(description ? { description } : {}),
      root: ROOTS[kind],
    };
    try {
      await api.post("/api/definitions", document);
      await invalidate("definitions");
      onClose();
      void navigate({ to: "/definitions/$id", params: { id: key } });
    } catch (error) {
      const taken = error instanceof ApiError && error.status === 409;
      setProblem(taken ? t("taken", { id: key }) : error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={t("new")}
      onClose={onClose}
      onSubmit={() => void (key && create())}
      foot={
        <Button type="submit" kind="primary" disabled={!key} busy={busy}>
          {t("create")}
        </Button>
      }
    >
      <TextField
        label={t("name")}
        value={name}
        hint={t("nameHint")}
        required
        onChange={(e) => setName(e.target.value)}
      />
      <TextField
        label={t("id")}
        value={key}
        hint={t("idHint")}
        problem={problem}
        onChange={(e) => setId(e.target.value)}
      />
      <SelectField
        label={t("kind")}
        value={kind}
        onChange={(e) => setKind(e.target.value)}
        options={(["flowchart", "sequence", "stateMachine"] as const).map((one) => ({ value: one, label: t(one) }))}
      />
      <TextArea label={t("description")} value={description} onChange={(e) => setDescription(e.target.value)} />
    </Dialog>
  );
}

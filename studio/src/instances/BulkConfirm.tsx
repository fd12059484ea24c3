import { useState } from "react";
import { Checkbox, Confirm, TextField, toast } from "../ui";
import { type BulkAction, bulk, type Chosen, countOf } from "./actions";
import { t } from "./messages";

type Props = { action: BulkAction; chosen: Chosen; onClose: () => void; onDone: () => void };

const TITLES = { cancel: "cancelTitle", retry: "retryTitle", delete: "deleteTitle" } as const;
const TEXTS = { cancel: "cancelText", retry: "retryText", delete: "deleteText" } as const;

export function BulkConfirm({ action, chosen, onClose, onDone }: Props) {
  const [why, setWhy] = useState("");
  const [terminate, setTerminate] = useState(false);
  const [busy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    await bulk(action, chosen, why, terminate).then(onDone, toast.failed);
    onClose();
  };
  return (
    <Confirm
      title={t(TITLES[action], { n: countOf(chosen) })}
      action={t(action)}
      danger={action !== "retry"}
      busy={busy}
      onConfirm={() => void go()}
      onClose={onClose}
    >
      <p>{t(TEXTS[action])}</p>
      {"filter" in chosen ? <p>{t("tested")}</p> : null}
      {action === "cancel" ? (
        <Checkbox label={t("terminate")} checked={terminate} onChange={(e) => setTerminate(e.target.checked)} />
      ) : null}
      {action !== "delete" ? (
        <TextField label={t("why")} hint={t("whyHint")} value={why} onChange={(e) => setWhy(e.target.value)} />
      ) : null}
    </Confirm>
  );
}

import { useState } from "react";
import { Checkbox, Confirm, TextField, toast } from "../ui";
import { bulk, type BulkAction } from "./verbs";
import { t } from "./words";

type Props = { action: BulkAction; ids: readonly string[]; onClose: () => void; onDone: () => void };

const TITLES = { cancel: "cancelTitle", retry: "retryTitle", delete: "deleteTitle" } as const;
const TEXTS = { cancel: "cancelText", retry: "retryText", delete: "deleteText" } as const;

export function BulkConfirm({ action, ids, onClose, onDone }: Props) {
  const [why, setWhy] = useState("");
  const [terminate, setTerminate] = useState(false);
  const [busy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    await bulk(action, ids, why, terminate).then(onDone, toast.failed);
    onClose();
  };
  return (
    <Confirm
      title={t(TITLES[action], { n: ids.length })}
      action={t(action)}
      danger={action !== "retry"}
      busy={busy}
      onConfirm={() => void go()}
      onClose={onClose}
    >
      <p>{t(TEXTS[action])}</p>
      {action === "cancel" ? (
        <Checkbox label={t("terminate")} checked={terminate} onChange={(e) => setTerminate(e.target.checked)} />
      ) : null}
      {action !== "delete" ? <TextField label={t("why")} hint={t("whyHint")} value={why} onChange={(e) => setWhy(e.target.value)} /> : null}
    </Confirm>
  );
}

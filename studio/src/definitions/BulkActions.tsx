import { useCan } from "../api/session";
import { Button, toast } from "../ui";
import { bulk, exportAll } from "./actions";
import type { DialogRequest } from "./Dialogs";
import { t } from "./messages";

export function BulkActions({
  ids,
  onAsk,
  onClear,
}: {
  ids: readonly string[];
  onAsk: (request: DialogRequest) => void;
  onClear: () => void;
}) {
  const can = useCan();
  return (
    <div className="bulk" role="toolbar" aria-label={t("actions")}>
      <span className="grow">{t("selected", { n: ids.length })}</span>
      {can("definitions:publish") ? (
        <>
          <Button small icon="check" onClick={() => void bulk("publish", ids).then(onClear, toast.failed)}>
            {t("publish")}
          </Button>
          <Button small icon="pause" onClick={() => onAsk({ kind: "retract", ids })}>
            {t("retract")}
          </Button>
        </>
      ) : null}
      <Button small icon="download" onClick={() => void exportAll(ids).catch(toast.failed)}>
        {t("export")}
      </Button>
      {can("definitions:write") ? (
        <>
          <Button small icon="label" onClick={() => onAsk({ kind: "label", ids })}>
            {t("move")}
          </Button>
          <Button small danger icon="trash" onClick={() => onAsk({ kind: "delete", ids })}>
            {t("delete")}
          </Button>
        </>
      ) : null}
      <Button small kind="plain" onClick={onClear}>
        {t("clear")}
      </Button>
    </div>
  );
}

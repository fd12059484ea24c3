import { defineMessages } from "../i18n/messages";
import { Button } from "./Button";

const t = defineMessages("pager", {
  of: "{from}–{to} of {total}",
  uncounted: "{from}–{to}",
  back: "Back",
  next: "Next",
});

type Paging = { page: number; next: (cursor: string) => void; back: () => void };

export function Pager({
  paging,
  data,
  size,
}: {
  paging: Paging;
  data: { items: unknown[]; total?: number | null; next: string | null };
  size: number;
}) {
  if (paging.page === 0 && !data.next) return null;
  const from = paging.page * size + 1;
  const to = from + data.items.length - 1;
  return (
    <div className="row" style={{ justifyContent: "flex-end" }}>
      <span className="quiet">
        {data.total == null ? t("uncounted", { from, to }) : t("of", { from, to, total: data.total })}
      </span>
      <Button small icon="back" disabled={paging.page === 0} onClick={paging.back}>
        {t("back")}
      </Button>
      <Button small disabled={!data.next} onClick={() => data.next && paging.next(data.next)}>
        {t("next")}
      </Button>
    </div>
  );
}

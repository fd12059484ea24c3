import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { instances } from "../api/queries";
import { useCan } from "../api/session";
import type { InstanceDetail, JournalEntry, MomentList } from "../api/types";
import { Button, Filled, toast, When } from "../ui";
import { fork } from "./actions";
import { t } from "./instanceMessages";

const AT_REST = new Set(["finished", "canceled"]);

type Props = { detail: InstanceDetail; at: number; entry: JournalEntry | null; onNow: () => void };

/** Says that one looks at the past, and offers to go another way from there. */
export function Travelling({ detail, at, entry, onNow }: Props) {
  const can = useCan();
  const navigate = useNavigate();
  const moments = useQuery(instances.moments(detail.id));
  const kept = entry && moments.data ? keptAt(moments.data, entry.version) : null;
  const go = async (version: number) => {
    const id = await fork(detail.id, version);
    void navigate({ to: "/instances/$id", params: { id } });
  };
  return (
    <div className="banner">
      <span className="grow">
        <Filled
          sentence={t("travelling", { n: at })}
          parts={{ when: <When at={entry?.at} as="moment" className="" /> }}
        />
        {moments.data?.items.length === 0 ? <span className="faint"> {t("notKept")}</span> : null}
      </span>
      {kept && can("instances:write") && !AT_REST.has(kept.status) ? (
        <Button small icon="fork" onClick={() => void go(kept.version).catch(toast.failed)}>
          {t("forkHere")}
        </Button>
      ) : null}
      <Button small onClick={onNow}>
        {t("backToNow")}
      </Button>
    </div>
  );
}

/** Several entries are committed together: what is kept is the state after the commit that this entry belongs to. */
const keptAt = (moments: MomentList, version: number) => moments.items.find((one) => one.version === version) ?? null;

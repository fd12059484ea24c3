import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { instances } from "../api/queries";
import { useCan } from "../api/session";
import type { InstanceDetail, JournalEntry, MomentList } from "../api/types";
import { Button, Interpolate, Timestamp, toast } from "../ui";
import { fork } from "./actions";
import { t } from "./instanceMessages";

const ENDED = new Set(["finished", "canceled"]);

type Props = { detail: InstanceDetail; at: number; entry: JournalEntry | null; onNow: () => void };

/** Banner of time travel, with an action to fork from the shown entry. */
export function PastBanner({ detail, at, entry, onNow }: Props) {
  const can = useCan();
  const navigate = useNavigate();
  const moments = useQuery(instances.moments(detail.id));
  const stored = entry && moments.data ? storedMoment(moments.data, entry.version) : null;
  const go = async (version: number) => {
    const id = await fork(detail.id, version);
    void navigate({ to: "/instances/$id", params: { id } });
  };
  return (
    <div className="banner">
      <span className="grow">
        <Interpolate
          sentence={t("travelling", { n: at })}
          parts={{ when: <Timestamp at={entry?.at} as="moment" className="" /> }}
        />
        {moments.data?.items.length === 0 ? <span className="faint"> {t("notKept")}</span> : null}
      </span>
      {stored && can("instances:write") && !ENDED.has(stored.status) ? (
        <Button small icon="fork" onClick={() => void go(stored.version).catch(toast.failed)}>
          {t("forkHere")}
        </Button>
      ) : null}
      <Button small onClick={onNow}>
        {t("backToNow")}
      </Button>
    </div>
  );
}

/** Entries of one commit share a version. The recorded state is the one after that commit. */
const storedMoment = (moments: MomentList, version: number) =>
  moments.items.find((one) => one.version === version) ?? null;

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { InstanceDetail } from "../api/types";
import type { ActivityNames } from "../catalogue/activityNames";
import { Interpolate, Timestamp } from "../ui";
import { t } from "./instanceMessages";
import "./waitBanner.css";

type Props = { detail: InstanceDetail; names: ActivityNames; onShow: (activity: string) => void };
type Wait = InstanceDetail["waits"][number];

const MAX_SHOWN = 3;

/** Conditions that the instance waits for, with links to resolve them. */
export function WaitBanner({ detail, names, onShow }: Props) {
  const tasks = new Map(
    detail.state.bookmarks.map((one) => [one.activity_id, (one.payload as { task_id?: unknown } | null)?.task_id]),
  );
  if (detail.waits.length === 0) return null;
  return (
    <div className={`banner ${detail.status === "faulted" ? "bad" : "wait"}`}>
      <ul className="waits grow">
        {detail.waits.slice(0, MAX_SHOWN).map((wait) => (
          <li key={`${wait.activity_id ?? ""} ${wait.what} ${wait.due ?? ""}`}>
            <span>
              <WaitText
                wait={wait}
                isTask={typeof tasks.get(wait.activity_id ?? "") === "string"}
                name={names.of(wait.activity_id)}
                onShow={onShow}
              />
            </span>
            <WaitLink wait={wait} task={tasks.get(wait.activity_id ?? "")} />
          </li>
        ))}
        {detail.waits.length > MAX_SHOWN ? <li>{t("waitsMore", { n: detail.waits.length - MAX_SHOWN })}</li> : null}
      </ul>
    </div>
  );
}

function WaitText({
  wait,
  isTask,
  name,
  onShow,
}: {
  wait: Wait;
  isTask: boolean;
  name: string;
  onShow: (activity: string) => void;
}) {
  const id = wait.activity_id;
  const parts: Record<string, ReactNode> = {
    what: isTask ? t("aPerson") : wait.child_id ? t("aChild") : wait.what,
    due: <Timestamp at={wait.due} as="moment" className="" />,
    activity: id ? (
      <button type="button" className="linkish" onClick={() => onShow(id)}>
        {name}
      </button>
    ) : null,
  };
  const sentence = wait.due ? t(wait.what ? "waitsForUntil" : "waitsUntil") : t("waitsFor");
  return (
    <>
      <Interpolate sentence={sentence} parts={parts} />
      {id ? <Interpolate sentence={t("waitsAt")} parts={parts} /> : null}
    </>
  );
}

function WaitLink({ wait, task }: { wait: Wait; task: unknown }) {
  if (wait.child_id)
    return (
      <Link className="button small" to="/instances/$id" params={{ id: wait.child_id }}>
        {t("openChild")}
      </Link>
    );
  if (typeof task !== "string") return null;
  return (
    <Link className="button small" to="/tasks" search={{ whose: "everyone", task }}>
      {t("openTask")}
    </Link>
  );
}

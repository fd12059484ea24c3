/** Publish: what it means for instances that are alive, and what stands in the way. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { catalogue } from "../app/messages";
import type { Problem } from "../model/validate";
import { Confirm, toast } from "../ui";
import { liveInstances, publish } from "./designerApi";

const t = catalogue("publish", {
  title: "Publish {name}",
  action: "Publish",
  live: "{n|instance is|instances are} alive on earlier versions. They stay on theirs; new ones start on this version.",
  none: "No instance is alive. New ones start on this version.",
  errors: "{n|problem keeps|problems keep} it from running. Correct them first.",
  warnings: "{n|warning|warnings}: it will run, but look at them.",
  done: "Published version {version}. {triggers|trigger|triggers} listen.",
});

interface PublishProps {
  readonly id: string;
  readonly name: string;
  readonly problems: readonly Problem[];
  readonly flush: () => Promise<boolean>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function PublishDialog({ id, name, problems, flush, onDone, onClose }: PublishProps) {
  const live = useQuery({ queryKey: ["instances", "live", id], queryFn: () => liveInstances(id), staleTime: 0, retry: false });
  const [busy, setBusy] = useState(false);
  const errors = problems.filter((problem) => problem.severity === "error").length;
  const warnings = problems.length - errors;
  const go = async (): Promise<void> => {
    setBusy(true);
    try {
      if (await flush()) {
        const result = await publish(id);
        toast.done(t("done", { version: result.summary.version, triggers: result.triggers }));
        onDone();
      }
      onClose();
    } catch (error) {
      toast.failed(error);
      setBusy(false);
    }
  };
  return (
    <Confirm title={t("title", { name })} action={t("action")} busy={busy} disabled={errors > 0} onConfirm={() => void go()} onClose={onClose}>
      {errors > 0 ? <p className="banner bad">{t("errors", { n: errors })}</p> : null}
      {errors === 0 && warnings > 0 ? <p className="banner wait">{t("warnings", { n: warnings })}</p> : null}
      {live.data !== undefined ? <p>{live.data > 0 ? t("live", { n: live.data }) : t("none")}</p> : null}
    </Confirm>
  );
}

/** Publish dialog: effect on active instances, and problems that prevent publishing. */

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { invalidate } from "../api/queries";
import { useCan } from "../api/session";
import { defineMessages } from "../i18n/messages";
import type { Problem } from "../model/validate";
import { Confirm, toast } from "../ui";
import { liveInstances, publish } from "./designerApi";
import { ProblemList } from "./ProblemsPanel";

const MAX_SHOWN = 5;

const t = defineMessages("publish", {
  title: "Publish {name}",
  action: "Publish",
  live: "{n|instance is|instances are} active on earlier versions and will stay on them. New instances use this version.",
  none: "No instances are active. New instances use this version.",
  errors: "{n|problem prevents|problems prevent} publishing.",
  warnings: "{n|warning|warnings}. You can publish, but review them first.",
  more: "and {n} more",
  done: "Published version {version}",
  move: "Migrate instances",
  doneTriggers: "Published version {version}. {triggers|trigger|triggers} active.",
  updated: "{n|workflow that uses|workflows that use} it published again.",
  refused: "{id} still uses the earlier version: {why}",
});

interface PublishProps {
  readonly id: string;
  readonly name: string;
  readonly problems: readonly Problem[];
  readonly flush: () => Promise<boolean>;
  readonly onShow: (problem: Problem) => void;
  readonly onClose: () => void;
}

export function PublishDialog({ id, name, problems, flush, onShow, onClose }: PublishProps) {
  const live = useQuery({
    queryKey: ["instances", "live", id],
    queryFn: () => liveInstances(id),
    staleTime: 0,
    retry: false,
  });
  const [busy, setBusy] = useState(false);
  const can = useCan();
  const navigate = useNavigate();
  const errors = problems.filter((problem) => problem.severity === "error");
  const shown = errors.length > 0 ? errors : problems;
  const go = async (): Promise<void> => {
    setBusy(true);
    try {
      if (await flush()) {
        const result = await publish(id);
        const { version } = result.summary;
        const move = {
          label: t("move"),
          run: () => void navigate({ to: "/alterations", search: { definition: id, version: String(version) } }),
        };
        const done = t(result.triggers > 0 ? "doneTriggers" : "done", { version, triggers: result.triggers });
        const updated = result.consumers_updated.length;
        toast.done(
          updated > 0 ? `${done} ${t("updated", { n: updated })}` : done,
          live.data && can("operations:write") ? move : undefined,
        );
        for (const [consumer, why] of Object.entries(result.consumers_refused)) {
          toast.failed(new Error(t("refused", { id: consumer, why })));
        }
        // The workflow may be usable as an activity from now on.
        await invalidate("descriptors");
      }
      onClose();
    } catch (error) {
      toast.failed(error);
      setBusy(false);
    }
  };
  return (
    <Confirm
      title={t("title", { name })}
      action={t("action")}
      busy={busy}
      disabled={errors.length > 0}
      onConfirm={() => void go()}
      onClose={onClose}
    >
      {shown.length > 0 ? (
        <div className={`banner ${errors.length > 0 ? "bad" : "wait"} hf-publish-problems`}>
          <p>{t(errors.length > 0 ? "errors" : "warnings", { n: shown.length })}</p>
          <ProblemList
            problems={shown.slice(0, MAX_SHOWN)}
            onShow={(problem) => {
              onClose();
              onShow(problem);
            }}
          />
          {shown.length > MAX_SHOWN ? <p className="small">{t("more", { n: shown.length - MAX_SHOWN })}</p> : null}
        </div>
      ) : null}
      {live.data !== undefined && errors.length === 0 ? (
        <p>{live.data > 0 ? t("live", { n: live.data }) : t("none")}</p>
      ) : null}
    </Confirm>
  );
}

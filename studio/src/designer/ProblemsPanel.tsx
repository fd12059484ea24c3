import { useEditor } from "../editor/useEditor";
import { defineMessages } from "../i18n/messages";
import { findActivity, titleOf } from "../model/document";
import type { Problem } from "../model/validate";
import { IconButton } from "../ui";
import "./problems.css";

const t = defineMessages("problems", {
  title: "Problems",
  none: "No problems found.",
  close: "Close",
  workflow: "Workflow",
});

export function ProblemsPanel({
  problems,
  onShow,
  onClose,
}: {
  problems: readonly Problem[];
  onShow: (problem: Problem) => void;
  onClose: () => void;
}) {
  const sorted = [...problems].sort(
    (left, right) => Number(left.severity === "warning") - Number(right.severity === "warning"),
  );
  return (
    <section className="hf-drawer" aria-label={t("title")}>
      <header>
        <h3 className="grow">{t("title")}</h3>
        <IconButton small icon="close" label={t("close")} onClick={onClose} />
      </header>
      {sorted.length === 0 ? (
        <p className="hf-drawer-none faint small">{t("none")}</p>
      ) : (
        <ProblemList problems={sorted} onShow={onShow} />
      )}
    </section>
  );
}

/** Problems with their activities. A click shows the activity. */
export function ProblemList({
  problems,
  onShow,
}: {
  problems: readonly Problem[];
  onShow: (problem: Problem) => void;
}) {
  const { document, catalogue } = useEditor((snapshot) => snapshot);
  return (
    <div className="hf-drawer-list">
      {problems.map((problem) => {
        const activity = problem.activityId === null ? undefined : findActivity(document, problem.activityId);
        const text = [problem.message, problem.remedy].filter(Boolean).join(" ");
        return (
          <button
            key={`${problem.code} ${problem.path} ${problem.message}`}
            type="button"
            title={text}
            onClick={() => onShow(problem)}
          >
            <span className={`hf-problem ${problem.severity}`} role="img" aria-label={problem.severity} />
            <b className="clip">
              {activity === undefined ? t("workflow") : titleOf(activity, catalogue.get(activity.type)?.display_name)}
            </b>
            <span className="grow clip">{text}</span>
          </button>
        );
      })}
    </div>
  );
}

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { api } from "../api/client";
import { apiPath, invalidate, tasks } from "../api/queries";
import { useCan, useSession } from "../api/session";
import type { Task } from "../api/types";
import { defineMessages } from "../i18n/messages";
import { useFilters } from "../navigation/filters";
import {
  Badge,
  Button,
  Empty,
  Heading,
  Interpolate,
  Json,
  problems,
  QueryView,
  type Schema,
  SchemaForm,
  Segments,
  StatusBadge,
  startOf,
  TextArea,
  Timestamp,
  toast,
} from "../ui";
import { InvalidJson, readJson } from "../ui/schema";
import "./tasks.css";

const t = defineMessages("tasks", {
  title: "Tasks",
  mine: "Mine",
  everyone: "All",
  history: "Completed",
  whose: "Filter",
  claim: "Claim",
  release: "Release",
  complete: "Complete",
  due: "due {when}",
  overdue: "Overdue",
  for: "for",
  anyone: "anyone",
  claimedBy: "Claimed by {name}",
  instance: "Instance",
  created: "Created",
  answer: "Answer",
  answerHint: "JSON, optional",
  emptyTitle: "No tasks",
  empty: "When a workflow needs input from a user (activity Human task), the task appears here with its form.",
  noHistory: "No completed tasks yet",
  choose: "Select a task.",
  completed: "Completed “{title}”",
  list: "Tasks",
});

type Whose = "mine" | "everyone" | "history";

export function TasksPage() {
  const [filters, setFilters] = useFilters();
  const whose = (filters.whose ?? "mine") as Whose;
  const query = useQuery({
    ...tasks.list(
      whose === "history"
        ? { state: "completed", limit: 100 }
        : { ...(whose === "mine" ? { mine: 1 } : {}), state: ["open", "claimed"], limit: 100 },
    ),
    refetchInterval: 5_000,
  });
  const chosen = query.data?.items.find((one) => one.id === filters.task) ?? query.data?.items[0];
  return (
    <div className="page">
      <header className="page-head">
        <Heading>{t("title")}</Heading>
        <span className="lead grow">{query.data?.total}</span>
        <Segments
          label={t("whose")}
          value={whose}
          options={[
            { id: "mine", label: t("mine") },
            { id: "everyone", label: t("everyone") },
            { id: "history", label: t("history") },
          ]}
          onChange={(id) => setFilters({ whose: id === "mine" ? undefined : id, task: undefined })}
        />
      </header>
      <QueryView query={query}>
        {(data) =>
          data.items.length === 0 ? (
            <div className="card">
              <Empty icon="inbox" title={whose === "history" ? t("noHistory") : t("emptyTitle")}>
                {t("empty")}
              </Empty>
            </div>
          ) : (
            <div className="inbox">
              <ul className="card" aria-label={t("list")}>
                {data.items.map((task) => (
                  <li key={task.id}>
                    <button
                      type="button"
                      aria-current={task.id === chosen?.id}
                      onClick={() => setFilters({ task: task.id })}
                    >
                      <span className="row">
                        <b className="grow clip">{task.title}</b>
                        <Due task={task} />
                      </span>
                      <span className="row faint small">
                        <span className="grow clip">{task.definition_name}</span>
                        <Timestamp at={task.created} />
                      </span>
                    </button>
                  </li>
                ))}
              </ul>
              {chosen ? <Detail key={chosen.id} task={chosen} /> : <p className="quiet">{t("choose")}</p>}
            </div>
          )
        }
      </QueryView>
    </div>
  );
}

function Due({ task }: { task: Task }) {
  if (task.state === "completed" || task.state === "canceled") return <StatusBadge status={task.state} />;
  if (!task.due) return task.state === "claimed" ? <StatusBadge status="claimed" /> : null;
  return new Date(task.due) < new Date() ? (
    <Badge tone="bad">{t("overdue")}</Badge>
  ) : (
    <Badge tone="wait">
      <Interpolate sentence={t("due")} parts={{ when: <Timestamp at={task.due} as="day" className="" /> }} />
    </Badge>
  );
}

function Detail({ task }: { task: Task }) {
  const can = useCan();
  const me = useSession((session) => session.me);
  const schema = useMemo<Schema | null>(
    () => (task.form && Object.keys((task.form as Schema).properties ?? {}).length > 0 ? (task.form as Schema) : null),
    [task.form],
  );
  const [value, setValue] = useState<Record<string, unknown>>(() => (schema ? startOf(schema) : {}));
  const [text, setText] = useState("");
  const [shown, setShown] = useState<Record<string, string>>({});
  const [busy, setBusy] = useState(false);
  const open = task.state === "open" || task.state === "claimed";
  const others = task.claimed_by !== null && task.claimed_by !== me?.id && task.claimed_by !== me?.name;

  const act = async (verb: "claim" | "release" | "complete", body: unknown = {}) => {
    setBusy(true);
    try {
      await api.post(apiPath("tasks", task.id, verb), body);
      if (verb === "complete") toast.done(t("completed", { title: task.title }));
      await invalidate("tasks", "instances");
    } catch (error) {
      toast.failed(error);
    } finally {
      setBusy(false);
    }
  };
  const complete = () => {
    if (schema) {
      const wrong = problems(schema, value, true);
      setShown(wrong);
      if (Object.keys(wrong).length === 0) void act("complete", { answer: value });
      return;
    }
    const answer = readJson(text);
    if (answer instanceof InvalidJson) setShown({ "": answer.why });
    else void act("complete", { answer: answer ?? null });
  };
  return (
    <article className="card padded stack loose">
      <header className="stack">
        <div className="row">
          <h2 className="grow">{task.title}</h2>
          <StatusBadge status={task.state} />
        </div>
        {task.description ? <p className="quiet">{task.description}</p> : null}
        <div className="row wrap small quiet" style={{ gap: 16 }}>
          <span>
            {t("for")} <b>{task.assignee ?? task.role ?? t("anyone")}</b>
          </span>
          {task.claimed_by ? <span>{t("claimedBy", { name: task.claimed_by })}</span> : null}
          <span>
            {t("created")} <Timestamp at={task.created} />
          </span>
          {can("instances:read") ? (
            <Link to="/instances/$id" params={{ id: task.instance_id }}>
              {t("instance")}
            </Link>
          ) : null}
        </div>
      </header>
      {open && can("tasks:complete") ? (
        <form
          className="stack loose"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            complete();
          }}
        >
          {schema ? (
            <SchemaForm schema={schema} value={value} onChange={setValue} problems={shown} disabled={others} />
          ) : (
            <TextArea
              label={t("answer")}
              hint={t("answerHint")}
              className="area mono"
              value={text}
              problem={shown[""]}
              onChange={(e) => setText(e.target.value)}
            />
          )}
          <div className="row">
            <Button type="submit" kind="primary" icon="check" busy={busy} disabled={others}>
              {t("complete")}
            </Button>
            {task.state === "open" ? (
              <Button disabled={busy} onClick={() => void act("claim")}>
                {t("claim")}
              </Button>
            ) : (
              <Button disabled={busy || others} onClick={() => void act("release")}>
                {t("release")}
              </Button>
            )}
          </div>
        </form>
      ) : null}
      {!open && task.answer !== null && task.answer !== undefined ? (
        <Json value={task.answer} label={t("answer")} />
      ) : null}
    </article>
  );
}

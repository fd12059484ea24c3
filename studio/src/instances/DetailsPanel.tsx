import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useCan } from "../api/session";
import type { Bookmark, InstanceDetail } from "../api/types";
import type { ActivityNames } from "../catalogue/activityNames";
import { Button, Dialog, duration, Id, StatusBadge, TextArea, Timestamp, toast, Value } from "../ui";
import { InvalidJson, readJson } from "../ui/schema";
import { act } from "./actions";
import { t } from "./instanceMessages";

export function DetailsPanel({ detail, names }: { detail: InstanceDetail; names: ActivityNames }) {
  const can = useCan();
  const [resumed, setResumed] = useState<Bookmark | null>(null);
  const took = detail.finished ? new Date(detail.finished).getTime() - new Date(detail.created).getTime() : null;
  return (
    <>
      <dl className="facts">
        <dt>{t("id")}</dt>
        <dd>
          <Id id={detail.id} />
        </dd>
        <dt>{t("status")}</dt>
        <dd>
          <StatusBadge status={detail.status} />
        </dd>
        <dt>{t("edit")}</dt>
        <dd>
          <Link to="/definitions/$id" params={{ id: detail.definition_id }}>
            {detail.definition_name}
          </Link>{" "}
          {t("version", { n: detail.definition_version })}
        </dd>
        <dt>{t("correlation")}</dt>
        <dd>{detail.correlation_id ? <Id id={detail.correlation_id} /> : "–"}</dd>
        <dt>{t("created")}</dt>
        <dd>
          <Timestamp at={detail.created} as="moment" />
        </dd>
        <dt>{t("updated")}</dt>
        <dd>
          <Timestamp at={detail.updated} as="moment" />
        </dd>
        <dt>{t("finished")}</dt>
        <dd>
          <Timestamp at={detail.finished} as="moment" />
        </dd>
        {took !== null ? (
          <>
            <dt>{t("took")}</dt>
            <dd>{duration(took)}</dd>
          </>
        ) : null}
      </dl>
      {detail.state.bookmarks.length > 0 ? (
        <div className="stack">
          <h3>{t("bookmarks")}</h3>
          {detail.state.bookmarks.map((bookmark) => (
            <div key={bookmark.id} className="card padded stack">
              <div className="row">
                <b className="grow clip">
                  {names.of(bookmark.activity_id)} <span className="faint">{bookmark.name}</span>
                </b>
                {bookmark.due ? (
                  <span className="small quiet">
                    {t("due")} <Timestamp at={bookmark.due} />
                  </span>
                ) : null}
                {can("instances:write") ? (
                  <Button small icon="play" onClick={() => setResumed(bookmark)}>
                    {t("resume")}
                  </Button>
                ) : null}
              </div>
              {bookmark.payload !== null && bookmark.payload !== undefined ? <Value value={bookmark.payload} /> : null}
              {bookmark.resume_url ? <Id id={bookmark.resume_url} /> : null}
            </div>
          ))}
        </div>
      ) : null}
      {resumed ? (
        <Resume
          instance={detail.id}
          bookmark={resumed}
          name={names.of(resumed.activity_id)}
          onClose={() => setResumed(null)}
        />
      ) : null}
    </>
  );
}

function Resume({
  instance,
  bookmark,
  name,
  onClose,
}: {
  instance: string;
  bookmark: Bookmark;
  name: string;
  onClose: () => void;
}) {
  const [text, setText] = useState("");
  const payload = readJson(text);
  const bad = payload instanceof InvalidJson ? t("badJson", { why: payload.why }) : undefined;
  const go = async () => {
    if (bad) return;
    try {
      await act(instance, "resume", { bookmark_id: bookmark.id, payload: payload ?? null });
      onClose();
    } catch (error) {
      toast.failed(error);
    }
  };
  return (
    <Dialog
      title={t("resumeTitle", { name })}
      onClose={onClose}
      onSubmit={() => void go()}
      foot={
        <Button type="submit" kind="primary" disabled={Boolean(bad)}>
          {t("resume")}
        </Button>
      }
    >
      <p>{t("resumeText")}</p>
      <TextArea
        label={t("payload")}
        className="area mono"
        rows={5}
        value={text}
        problem={bad}
        onChange={(e) => setText(e.target.value)}
      />
    </Dialog>
  );
}

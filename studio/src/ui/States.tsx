import type { ReactNode } from "react";
import { ApiError } from "../api/errors";
import { defineMessages } from "../i18n/messages";
import { Button } from "./Button";
import { Icon, type IconName } from "./Icon";

const t = defineMessages("states", {
  loading: "Loading",
  again: "Try again",
  forbidden: "Access denied",
  missing: "Not found",
  offline: "The server cannot be reached",
  offlineText: "Check that the server is running and that this machine can reach it. Your input is not lost.",
  wrong: "Something went wrong",
});

/** Placeholder for an empty list: its purpose and the next step. */
export function Empty({
  icon,
  title,
  children,
  actions,
}: {
  icon: IconName;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <div className="empty">
      <div className="art">
        <Icon name={icon} size={32} />
      </div>
      <h2>{title}</h2>
      {children ? <p>{children}</p> : null}
      {actions ? <div className="row wrap">{actions}</div> : null}
    </div>
  );
}

export function Loading({ rows = 4 }: { rows?: number }) {
  return (
    <div className="stack loose" role="status" aria-label={t("loading")} style={{ padding: 16 }}>
      {Array.from({ length: rows }, (_, index) => `${90 - ((index * 23) % 50)}%`).map((width) => (
        <div key={width} className="skeleton" style={{ width }} />
      ))}
    </div>
  );
}

/** An error with its remedy. */
export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  const { title, text } = explain(error);
  return (
    <div role="alert">
      <Empty
        icon="alert"
        title={title}
        actions={
          retry ? (
            <Button icon="refresh" onClick={retry}>
              {t("again")}
            </Button>
          ) : undefined
        }
      >
        {text}
      </Empty>
    </div>
  );
}

export function explain(error: unknown): { title: string; text: string } {
  if (error instanceof ApiError) {
    if (error.status === 403) return { title: t("forbidden"), text: error.message };
    if (error.status === 404) return { title: t("missing"), text: error.message };
    if (error.status === 0) return { title: t("offline"), text: t("offlineText") };
    return { title: t("wrong"), text: error.message };
  }
  return { title: t("wrong"), text: error instanceof Error ? error.message : String(error) };
}

type Query<T> = { data: T | undefined; error: unknown; isPending: boolean; refetch: () => unknown };

/** Renders a query: data, error, or loading. */
export function QueryView<T>({
  query,
  children,
  rows,
}: {
  query: Query<T>;
  children: (data: T) => ReactNode;
  rows?: number;
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error) return <Failed error={query.error} retry={() => void query.refetch()} />;
  return <Loading rows={rows ?? 4} />;
}

/** Save conflict: shows the differences, and the author chooses a version. */

import { useQuery } from "@tanstack/react-query";
import { api } from "../api/client";
import { apiPath } from "../api/queries";
import type { DefinitionDetail } from "../api/types";
import { defineMessages } from "../i18n/messages";
import { connectionKey, diffDocuments } from "../model/diff";
import type { Definition } from "../model/document";
import { withIds } from "../model/ids";
import type { JsonObject } from "../model/json";
import { Button, Dialog, Loading } from "../ui";
import "../diagram/diff.css";

const t = defineMessages("conflict", {
  title: "This workflow was saved by another user",
  text: "Another version was saved after you opened this workflow. Your changes are kept. Choose which version to continue with.",
  differences: "Differences between the saved version and yours:",
  none: "The versions are equivalent. Only positions and notes differ.",
  mine: "Keep mine",
  theirs: "Use saved version",
  later: "Decide later",
  added: "added",
  removed: "removed",
  changed: "changed",
  moved: "moved",
  settings: "Settings and declarations",
});

interface ConflictProps {
  readonly document: Definition;
  readonly onMine: (etag: string | null) => void;
  readonly onTheirs: (document: Definition, etag: string | null) => void;
  readonly onClose: () => void;
}

export function ConflictDialog({ document, onMine, onTheirs, onClose }: ConflictProps) {
  const query = useQuery({
    queryKey: ["conflict", document.id],
    queryFn: ({ signal }) =>
      api.get<DefinitionDetail>(apiPath("definitions", document.id), { version: "latest" }, signal),
    gcTime: 0,
    staleTime: 0,
  });
  const theirs = query.data === undefined ? null : withIds(query.data.document as unknown as JsonObject);
  const diff = theirs === null ? null : diffDocuments(theirs, document);
  return (
    <Dialog
      title={t("title")}
      onClose={onClose}
      foot={
        <>
          <Button kind="plain" onClick={onClose}>
            {t("later")}
          </Button>
          <Button
            disabled={theirs === null}
            onClick={() => theirs !== null && onTheirs(theirs, query.data?.etag ?? null)}
          >
            {t("theirs")}
          </Button>
          <Button kind="primary" disabled={theirs === null} onClick={() => onMine(query.data?.etag ?? null)}>
            {t("mine")}
          </Button>
        </>
      }
    >
      <p>{t("text")}</p>
      {diff === null ? (
        <Loading rows={2} />
      ) : diff.activities.length + diff.connections.length + diff.fields.length === 0 ? (
        <p className="quiet">{t("none")}</p>
      ) : (
        <div className="stack">
          <p className="quiet">{t("differences")}</p>
          <ul className="hf-changes">
            {diff.activities.map((change) => (
              <li key={change.id} data-change={change.change}>
                <b>{change.title}</b> {t(change.change)}{" "}
                <span className="faint mono">{change.fields.map((field) => field.path).join(", ")}</span>
              </li>
            ))}
            {diff.connections.map((change) => (
              <li key={connectionKey(change)} data-change={change.change}>
                {change.from} → {change.to} {t(change.change)}
              </li>
            ))}
            {diff.fields.length > 0 ? (
              <li data-change="changed">
                {t("settings")} <span className="faint mono">{diff.fields.map((field) => field.path).join(", ")}</span>
              </li>
            ) : null}
          </ul>
        </div>
      )}
    </Dialog>
  );
}

/** Designer page: loads a definition, saves changes automatically, and renders the designer. */

import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { ReactFlowProvider } from "@xyflow/react";
import { useEffect, useState } from "react";
import { definitions } from "../api/queries";
import { useCan } from "../api/session";
import type { DefinitionDetail } from "../api/types";
import { AutoSaver } from "../editor/autosave";
import { EditorSession } from "../editor/session";
import { defineMessages } from "../i18n/messages";
import type { Catalogue } from "../model/descriptors";
import { placesOf } from "../model/document";
import { focusOn, readFocus, writeFocus } from "../model/focus";
import { withIds } from "../model/ids";
import type { JsonObject } from "../model/json";
import { type Search, useFilters } from "../navigation/filters";
import { Button, Dialog, Failed, Interpolate, Loading, Timestamp } from "../ui";
import { Designer } from "./Designer";
import "./designer.css";
import { descriptors } from "../catalogue/useCatalogue";
import { SessionContext } from "../editor/useEditor";
import { classifyFailure, saveDefinition } from "./designerApi";
import { type LocalDraft, localDraftStore, readLocalDraft } from "./localDraft";

const t = defineMessages("designer-page", {
  draftTitle: "Unsaved changes",
  draftText: "This browser holds changes from {when} that were not saved on the server.",
  restore: "Restore changes",
  discard: "Discard changes",
});

export function DesignerPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const [search] = useFilters();
  const version = search.version ?? "latest";
  const detail = useQuery({
    ...definitions.one(id, version),
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const known = useQuery(descriptors);
  // A failed refetch must not replace an open document.
  if (detail.isLoadingError) return <Failed error={detail.error} retry={() => void detail.refetch()} />;
  if (known.isLoadingError) return <Failed error={known.error} retry={() => void known.refetch()} />;
  if (detail.data === undefined || known.data === undefined) return <Loading />;
  return (
    <Opened key={`${id} ${version}`} detail={detail.data} catalogue={known.data} isLatest={version === "latest"} />
  );
}

function openSession(
  { document: source, etag }: DefinitionDetail,
  catalogue: Catalogue,
  filters: Search,
  readOnly: boolean,
): { session: EditorSession; saver: AutoSaver } {
  const document = withIds(source as unknown as JsonObject);
  const session = new EditorSession(document, catalogue, { focus: readFocus(filters.at), readOnly });
  const place = placesOf(document).get(filters.activity ?? "");
  if (place !== undefined) session.open(focusOn(place), [place.activity.id]);
  const saver = new AutoSaver(
    {
      save: async (next, base) => (await saveDefinition(next, base)).etag,
      classifyFailure,
      schedule: (milliseconds, run) => {
        const timer = setTimeout(run, milliseconds);
        return () => clearTimeout(timer);
      },
      drafts: localDraftStore(document.id),
    },
    etag,
    document,
  );
  return { session, saver };
}

/** The session starts from the first response. Later responses are our own saves. */
function Opened({
  detail,
  catalogue,
  isLatest,
}: {
  detail: DefinitionDetail;
  catalogue: Catalogue;
  isLatest: boolean;
}) {
  const can = useCan();
  const [first] = useState(detail);
  const isCode = first.summary.origin === "code";
  const readOnly = !isLatest || isCode || !can("definitions:write");
  const [filters, setFilters] = useFilters();
  const [draft, setDraft] = useState<LocalDraft | null>(() => (readOnly ? null : readLocalDraft(first.summary.id)));
  // One session per opened document. Later filters and catalogues are handed to it by the effects below.
  const [{ session, saver }] = useState(() => openSession(first, catalogue, filters, readOnly));
  useEffect(() => session.setCatalogue(catalogue), [session, catalogue]);
  useEffect(() => session.setReadOnly(readOnly), [session, readOnly]);

  useEffect(() => {
    let { document } = session.get();
    const stop = session.subscribe(() => {
      const now = session.get();
      if (now.document !== document) {
        document = now.document;
        if (!now.readOnly) saver.change(document);
      }
    });
    const leave = (event: BeforeUnloadEvent): void => {
      if (!saver.isClean) event.preventDefault();
    };
    const hide = (): void => {
      if (window.document.visibilityState === "hidden") void saver.flush();
    };
    window.addEventListener("beforeunload", leave);
    window.document.addEventListener("visibilitychange", hide);
    return () => {
      stop();
      void saver.flush();
      window.removeEventListener("beforeunload", leave);
      window.document.removeEventListener("visibilitychange", hide);
    };
  }, [session, saver]);

  // The current level is part of the URL: Back returns to the previous level, and links open it.
  useEffect(
    () =>
      session.subscribe(() => {
        const at = writeFocus(session.get().focus) ?? undefined;
        if (at !== filters.at || filters.activity !== undefined) setFilters({ at, activity: undefined });
      }),
    [session, filters, setFilters],
  );

  return (
    <SessionContext.Provider value={session}>
      <ReactFlowProvider>
        <Designer summary={detail.summary} saver={saver} isCode={isCode} isLatest={isLatest} />
      </ReactFlowProvider>
      {draft !== null && JSON.stringify(draft.document) !== JSON.stringify(session.get().document) ? (
        <Dialog
          title={t("draftTitle")}
          closable={false}
          onClose={() => undefined}
          foot={
            <>
              <Button
                onClick={() => {
                  localDraftStore(first.summary.id).drop();
                  setDraft(null);
                }}
              >
                {t("discard")}
              </Button>
              <Button
                kind="primary"
                onClick={() => {
                  saver.rebase(draft.etag);
                  session.load(withIds(draft.document));
                  setDraft(null);
                }}
              >
                {t("restore")}
              </Button>
            </>
          }
        >
          <p>
            <Interpolate
              sentence={t("draftText")}
              parts={{ when: <Timestamp at={draft.at} as="moment" className="" /> }}
            />
          </p>
        </Dialog>
      ) : null}
    </SessionContext.Provider>
  );
}

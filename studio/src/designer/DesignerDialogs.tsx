/** Dialogs and pop-up lists of the designer. */

import { useEffect, useRef, useState } from "react";
import type { Document } from "../api/types";
import { RunDialog } from "../definitions/RunDialog";
import type { AutoSaver } from "../editor/autosave";
import { useEditor, useEditorSession } from "../editor/useEditor";
import type { Problem } from "../model/validate";
import { toast } from "../ui";
import { ConflictDialog } from "./ConflictDialog";
import { ConnectBox } from "./ConnectBox";
import { t } from "./designerMessages";
import { PublishDialog } from "./PublishDialog";
import { SearchBox } from "./SearchBox";
import { ShortcutsDialog } from "./ShortcutsDialog";

export type DialogName = "publish" | "run" | "search" | "connect" | "conflict" | "shortcuts";

interface DesignerDialogsProps {
  readonly open: DialogName | null;
  readonly saver: AutoSaver;
  readonly problems: readonly Problem[];
  readonly onShow: (activityId: string) => void;
  readonly onShowProblem: (problem: Problem) => void;
  readonly onClose: () => void;
}

export function DesignerDialogs({ open, saver, problems, onShow, onShowProblem, onClose }: DesignerDialogsProps) {
  const session = useEditorSession();
  const { document, selection } = useEditor((snapshot) => snapshot);
  const top = { x: innerWidth / 2 - 160, y: 96 };
  return (
    <>
      {open === "publish" ? (
        <PublishDialog
          id={document.id}
          name={document.name || document.id}
          problems={problems}
          flush={() => saver.flush()}
          onShow={onShowProblem}
          onClose={onClose}
        />
      ) : null}
      {open === "run" ? (
        <SaveAndRun id={document.id} document={document as unknown as Document} saver={saver} onClose={onClose} />
      ) : null}
      {open === "search" ? <SearchBox at={top} onClose={onClose} onShow={onShow} /> : null}
      {open === "connect" && selection[0] !== undefined ? (
        <ConnectBox from={selection[0]} at={top} onClose={onClose} />
      ) : null}
      {open === "shortcuts" ? <ShortcutsDialog onClose={onClose} /> : null}
      {open === "conflict" ? (
        <ConflictDialog
          document={document}
          onClose={onClose}
          onMine={(etag) => {
            onClose();
            void saver.overwrite(etag);
          }}
          onTheirs={(theirs, etag) => {
            onClose();
            saver.take(theirs, etag);
            session.load(theirs);
          }}
        />
      ) : null}
    </>
  );
}

/** Saves pending changes before the run. */
function SaveAndRun({
  id,
  document,
  saver,
  onClose,
}: {
  id: string;
  document: Document;
  saver: AutoSaver;
  onClose: () => void;
}) {
  const [isReady, setReady] = useState(saver.isClean);
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    if (saver.isClean) return;
    void saver.flush().then((isSaved) => {
      if (isSaved) return setReady(true);
      toast.failed(new Error(t("unsaved")));
      close.current();
    });
  }, [saver]);
  return isReady ? <RunDialog id={id} document={document} onClose={onClose} /> : null;
}

import { Link } from "@tanstack/react-router";
import { type DragEvent, useRef, useState } from "react";
import type { ImportedFile } from "../api/types";
import { Badge, Button, Dialog } from "../ui";
import { t } from "./messages";

/** File drop on the whole page. */
export function useFileDrop(take: ((files: FileList) => void) | null) {
  const [over, setOver] = useState(false);
  const depth = useRef(0);
  if (!take) return { over: false };
  const files = (event: DragEvent) => event.dataTransfer.types.includes("Files");
  return {
    over,
    onDragEnter: (event: DragEvent) => {
      if (!files(event)) return;
      depth.current += 1;
      setOver(true);
    },
    onDragLeave: (event: DragEvent) => {
      if (!files(event)) return;
      depth.current -= 1;
      if (depth.current === 0) setOver(false);
    },
    onDragOver: (event: DragEvent) => {
      if (files(event)) event.preventDefault();
    },
    onDrop: (event: DragEvent) => {
      if (!files(event)) return;
      event.preventDefault();
      depth.current = 0;
      setOver(false);
      take(event.dataTransfer.files);
    },
  };
}

export function ImportResult({ files, onClose }: { files: readonly ImportedFile[]; onClose: () => void }) {
  return (
    <Dialog
      title={t("importTitle")}
      onClose={onClose}
      foot={
        <Button kind="primary" onClick={onClose}>
          {t("close")}
        </Button>
      }
    >
      {files.map((file) => (
        <div key={file.file} className="stack">
          <div className="row">
            <Badge tone={file.ok ? "ok" : "bad"}>{file.ok ? t("importTitle") : file.file}</Badge>
            {file.ok && file.id ? (
              <Link to="/definitions/$id" params={{ id: file.id }} onClick={onClose}>
                {t("importOk", { id: file.id, version: file.version ?? 1 })}
              </Link>
            ) : null}
            <span className="faint grow clip">{file.ok ? file.file : ""}</span>
          </div>
          {file.problems.slice(0, 6).map((problem) => (
            <p key={`${problem.path ?? ""} ${problem.message}`} className="small quiet">
              {problem.path ? `${problem.path}: ` : ""}
              {problem.message}
            </p>
          ))}
        </div>
      ))}
    </Dialog>
  );
}

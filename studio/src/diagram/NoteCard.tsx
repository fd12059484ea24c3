/** Sticky note on the canvas. */

import { type NodeProps, NodeResizer } from "@xyflow/react";
import { createContext, memo, useContext } from "react";
import { defineMessages } from "../i18n/messages";
import { snap } from "../model/layout";
import type { NoteNode } from "./flowElements";

const t = defineMessages("note", { text: "Note", placeholder: "Write a note …", move: "Drag to move the note" });

export type ChangeNote = (id: string, change: { text?: string; width?: number; height?: number }) => void;

export const NoteContext = createContext<ChangeNote | null>(null);

export const NoteCard = memo(function NoteCard({ data, selected }: NodeProps<NoteNode>) {
  const change = useContext(NoteContext);
  const { note, readOnly } = data;
  return (
    <div className={`hf-note ${selected ? "selected" : ""}`} data-tone={note.tone}>
      <NodeResizer
        isVisible={selected && !readOnly}
        minWidth={120}
        minHeight={64}
        onResizeEnd={(_event, { width, height }) => change?.(note.id, { width: snap(width), height: snap(height) })}
      />
      {readOnly ? null : <div className="hf-note-grip" title={t("move")} />}
      <textarea
        className="nodrag nowheel"
        aria-label={t("text")}
        placeholder={t("placeholder")}
        value={note.text}
        readOnly={readOnly || change === null}
        onChange={(event) => change?.(note.id, { text: event.target.value })}
      />
    </div>
  );
});

/** Nodes of the canvas: between two edits they also hold the positions of a drag. */

import type { NodeChange } from "@xyflow/react";
import { type RefObject, useCallback, useRef, useState } from "react";
import { type AnyNode, type Drawing, toNodes } from "../diagram/flowElements";
import * as commands from "../editor/commands";
import { useEditorSession } from "../editor/useEditor";
import type { Point } from "../model/graph";
import { isFreeLevel, reorderBy, reselected } from "./placement";

interface CanvasNodes {
  readonly nodes: AnyNode[];
  /** The drawing shown last, for callbacks. */
  readonly drawn: RefObject<Drawing>;
  /** Applies the positions of moved cards to the document. */
  readonly settle: (positions: ReadonlyMap<string, Point>) => void;
  readonly onNodesChange: (changes: NodeChange<AnyNode>[]) => void;
}

export function useCanvasNodes(drawing: Drawing): CanvasNodes {
  const session = useEditorSession();
  const [nodes, setNodes] = useState<AnyNode[]>(() => toNodes(drawing, []));
  const drawn = useRef(drawing);
  const moving = useRef(new Map<string, Point>());
  if (drawn.current !== drawing) {
    drawn.current = drawing;
    setNodes((before) => toNodes(drawing, before));
  }

  const settle = useCallback(
    (settled: ReadonlyMap<string, Point>) => {
      const { current } = drawn;
      if (isFreeLevel(current)) session.run(commands.move(settled));
      else reorderBy(settled, current, (id, index) => session.run(commands.reorder(id, index)));
    },
    [session],
  );

  const onNodesChange = useCallback(
    (changes: NodeChange<AnyNode>[]) => {
      const picked = new Map<string, boolean>();
      const settled = new Map<string, Point>();
      for (const change of changes) {
        if (change.type === "select") picked.set(change.id, change.selected);
        else if (change.type === "position" && change.position !== undefined) {
          moving.current.set(change.id, change.position);
          if (!change.dragging) settled.set(change.id, change.position);
        } else if (change.type === "position" && change.dragging === false) {
          const at = moving.current.get(change.id);
          if (at !== undefined) settled.set(change.id, at);
        }
      }
      if (picked.size > 0) session.select(reselected(session.get().selection, picked));
      if (settled.size > 0) {
        moving.current.clear();
        settle(settled);
        // Resets the cards to the positions of the document, whatever the command changed.
        setNodes((before) =>
          toNodes(
            drawn.current,
            before.map(
              (node) =>
                (settled.has(node.id) ? { ...node, position: { ...node.position, x: Number.NaN } } : node) as AnyNode,
            ),
          ),
        );
        return;
      }
      const moved = moving.current;
      if (moved.size > 0 && changes.some((change) => change.type === "position")) {
        setNodes((before) =>
          before.map((node) => {
            const at = moved.get(node.id);
            return at === undefined ? node : { ...node, position: at };
          }),
        );
      }
    },
    [session, settle],
  );
  return { nodes, drawn, settle, onNodesChange };
}

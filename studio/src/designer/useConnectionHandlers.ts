/** Handlers of React Flow for connections: draw, select, reconnect, and drop on empty space. */

import type { Connection, EdgeChange, FinalConnectionState } from "@xyflow/react";
import { useReactFlow } from "@xyflow/react";
import { useCallback } from "react";
import type { AnyNode, ConnectionEdge } from "../diagram/flowElements";
import * as commands from "../editor/commands";
import { mayConnect } from "../editor/rules";
import { useEditor, useEditorSession } from "../editor/useEditor";
import type { Level } from "../model/focus";
import { STATE } from "../model/graph";
import { reselected } from "./placement";
import type { InsertRequest } from "./useInsertion";
import { useRunCommand } from "./useRunCommand";

export function useConnectionHandlers(
  level: Level,
  edges: readonly ConnectionEdge[],
  setInsertRequest: (request: InsertRequest) => void,
) {
  const session = useEditorSession();
  const catalogue = useEditor((snapshot) => snapshot.catalogue);
  const flow = useReactFlow<AnyNode, ConnectionEdge>();
  const run = useRunCommand();

  const connect = useCallback(
    ({ source, sourceHandle, target }: Connection) => void run(commands.connect(source, sourceHandle, target)),
    [run],
  );

  const connectEnd = useCallback(
    (event: MouseEvent | TouchEvent, state: FinalConnectionState) => {
      if (state.toNode !== null || state.fromNode === null || state.fromHandle?.type !== "source") return;
      const point = "changedTouches" in event ? event.changedTouches[0] : event;
      if (point === undefined) return;
      const at = { x: point.clientX, y: point.clientY };
      const place = flow.screenToFlowPosition(at);
      if (state.fromNode.id.startsWith(STATE))
        run(commands.addState({ x: place.x - 116, y: place.y }, state.fromNode.id));
      else
        setInsertRequest({
          at,
          after: { id: state.fromNode.id, outcome: state.fromHandle.id ?? "Done" },
          place: { x: place.x - 116, y: place.y },
        });
    },
    [flow, run, setInsertRequest],
  );

  const isValid = useCallback(
    ({ source, sourceHandle, target }: Connection | ConnectionEdge) =>
      mayConnect(level, catalogue, source, sourceHandle ?? null, target).ok,
    [level, catalogue],
  );

  const onEdgesChange = useCallback(
    (changes: EdgeChange<ConnectionEdge>[]) => {
      const picked = new Map<string, boolean>();
      for (const change of changes) {
        if (change.type !== "select") continue;
        const index = edges.find((edge) => edge.id === change.id)?.data?.index;
        if (index !== null && index !== undefined) picked.set(`edge:${index}`, change.selected);
      }
      if (picked.size > 0) session.select(reselected(session.get().selection, picked));
    },
    [edges, session],
  );

  const reconnect = useCallback(
    (edge: ConnectionEdge, next: Connection) => {
      const index = edge.data?.index;
      if (index !== null && index !== undefined)
        run(commands.redirect(index, { from: next.source, to: next.target, outcome: next.sourceHandle }));
    },
    [run],
  );

  return { connect, connectEnd, isValid, onEdgesChange, reconnect };
}

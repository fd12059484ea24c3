/** Insertion of activities: from the library, into a connection, after a card, or at the pointer. */

import { useReactFlow } from "@xyflow/react";
import { type DragEvent, type RefObject, useCallback, useState } from "react";
import type { Insert } from "../diagram/Edge";
import type { AnyNode, ConnectionEdge, Drawing } from "../diagram/flowElements";
import * as commands from "../editor/commands";
import { useEditor, useEditorSession } from "../editor/useEditor";
import { DRAG_TYPE } from "../library/Library";
import type { Point } from "../model/graph";
import { placeAfter } from "../model/layout";
import { afterSelected, centreOf, edgeUnder, makeRoom } from "./placement";
import { useRunCommand } from "./useRunCommand";

/** Open request of the quick-add list: where it is shown, and where the activity goes. */
export interface InsertRequest {
  readonly at: Point;
  readonly after?: { readonly id: string; readonly outcome: string } | undefined;
  readonly edge?: string | undefined;
  readonly place?: Point | undefined;
}

export function useInsertion({ graph, level, places, direction }: Drawing, frame: RefObject<HTMLElement | null>) {
  const session = useEditorSession();
  const readOnly = useEditor((snapshot) => snapshot.readOnly);
  const flow = useReactFlow<AnyNode, ConnectionEdge>();
  const run = useRunCommand();
  const [insertRequest, setInsertRequest] = useState<InsertRequest | null>(null);

  const add = useCallback(
    (type: string, ask: InsertRequest | null) => {
      const { selection: chosen } = session.get();
      const after = ask?.after ?? (ask?.edge === undefined ? afterSelected(graph, chosen) : undefined);
      const source = after === undefined ? undefined : graph.nodes.find((node) => node.id === after.id);
      const edge = ask?.edge === undefined ? undefined : graph.edges.find((item) => item.id === ask.edge);
      const next = { width: 232, height: 56 };
      const room = edge === undefined || level !== "flowchart" ? null : makeRoom(edge, graph, places, direction);
      const place =
        room?.at ??
        ask?.place ??
        (source !== undefined
          ? placeAfter(graph, places, source, direction, next)
          : flow.screenToFlowPosition(centreOf(frame.current)));
      if (level === "states") {
        run(commands.addState(place, source?.id ?? null));
        return;
      }
      const index =
        edge !== undefined && edge.index === null
          ? graph.nodes.findIndex((node) => node.id === edge.target)
          : undefined;
      run(
        commands.addActivity({
          type,
          at: place,
          after,
          split: edge?.index ?? undefined,
          room: room?.room,
          index: index === undefined || index < 0 ? undefined : index,
        }),
      );
    },
    [session, graph, places, direction, flow, run, level, frame],
  );

  const quickAdd = useCallback(
    (ask: InsertRequest) => {
      if (level === "states")
        run(commands.addState(ask.place ?? flow.screenToFlowPosition(ask.at), ask.after?.id ?? null));
      else setInsertRequest(ask);
    },
    [level, flow, run],
  );

  const insert = useCallback<Insert>(
    (edge, at) => {
      const place = flow.screenToFlowPosition(at);
      setInsertRequest({ at, edge, place: { x: place.x - 116, y: place.y - 28 } });
    },
    [flow],
  );
  const drop = (event: DragEvent): void => {
    const type = event.dataTransfer.getData(DRAG_TYPE);
    if (!type || readOnly) return;
    event.preventDefault();
    const at = { x: event.clientX, y: event.clientY };
    const place = flow.screenToFlowPosition(at);
    const edge = edgeUnder(at);
    if (edge !== null) add(type, { at, edge, place: { x: place.x - 116, y: place.y - 28 } });
    else {
      session.select([]);
      add(type, { at, place: { x: place.x - 116, y: place.y - 28 } });
    }
  };

  return { insertRequest, setInsertRequest, add, quickAdd, insert, drop };
}

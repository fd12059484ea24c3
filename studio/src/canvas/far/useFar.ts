/** Whether a drawing is seen from afar now, and how it is seen whole. */

import { getViewportForBounds, useReactFlow, useStore } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef, type RefObject } from "react";
import { toneOfMark } from "../Card";
import type { Drawing } from "../nodes";
import { BIG_FROM, boundsOf, FAR_ZOOM, sceneOf, type Rect, type Scene } from "./scene";
import { sizeOf } from "../../model/layout";

const MOST_ZOOM = 1;
export const LEAST_ZOOM = 0.02;
const PADDING = 0.16;
const GLIDE_MS = 120;

export interface Far {
  /** Null as long as the cards are near enough to be cards. */
  readonly scene: Scene | null;
  /** Shows everything; at once, or gliding. */
  readonly fit: (glides?: boolean) => void;
}

/** `where` names what is shown: another level is shown whole. `boxes` are the frames of a drawing that has any. */
export function useFar(drawing: Drawing, where: string, frame: RefObject<HTMLElement | null>, boxes?: readonly Rect[]): Far {
  const flow = useReactFlow();
  const isBig = drawing.graph.nodes.length > BIG_FROM && boxes === undefined;
  const isFar = useStore((store) => isBig && (store.panZoom === null || store.transform[2] < FAR_ZOOM));
  const scene = useMemo(() => (isFar ? sceneOf(drawing, (id) => toneOf(drawing, id)) : null), [isFar, drawing]);
  const bounds = useRef({ x: 0, y: 0, width: 0, height: 0 });
  bounds.current = useMemo(() => boundsOf(boxes ?? boxesOf(drawing)), [boxes, drawing]);

  const fit = useCallback(
    (glides = false) => {
      const box = frame.current?.getBoundingClientRect();
      if (frame.current !== null) frame.current.dataset["ready"] = "";
      if (box === undefined || bounds.current.width === 0) return;
      void flow.setViewport(getViewportForBounds(bounds.current, box.width, box.height, LEAST_ZOOM, MOST_ZOOM, PADDING), glides ? { duration: GLIDE_MS } : undefined);
    },
    [flow, frame],
  );
  useEffect(() => fit(), [where, fit]);
  return { scene, fit };
}

function boxesOf({ graph, places, direction }: Drawing): Rect[] {
  return [...graph.nodes.map((node) => ({ ...(places.get(node.id) ?? { x: 0, y: 0 }), ...sizeOf(node, direction) })), ...graph.notes];
}

function toneOf(drawing: Drawing, id: string): string | null {
  const mark = drawing.marks[id];
  if (mark !== undefined) return toneOfMark(mark.status);
  return drawing.problems.get(id) === "error" ? "bad" : null;
}

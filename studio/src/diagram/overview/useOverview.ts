/** Whether a drawing is seen from afar now, and how it is seen whole. */

import { getViewportForBounds, useReactFlow, useStore } from "@xyflow/react";
import { type RefObject, useCallback, useEffect, useMemo, useRef } from "react";
import type { Point } from "../../model/graph";
import { CARD_HEIGHT, CARD_WIDTH, type Direction, sizeOf } from "../../model/layout";
import { gliding } from "../animation";
import { toneOfMark } from "../Card";
import type { Drawing } from "../flowElements";
import { BIG_FROM, boundsOf, FAR_ZOOM, type Rect, type Scene, sceneOf } from "./scene";

const MOST_ZOOM = 1;
export const LEAST_ZOOM = 0.02;
const PADDING = 0.16;
const READABLE = 0.5;
const BEGIN = 0.75;
const MARGIN = 40;

export interface Far {
  /** Null as long as the cards are near enough to be cards. */
  readonly scene: Scene | null;
  /** Shows everything; at once, or gliding. */
  readonly fit: (glides?: boolean) => void;
}

/**
 * `where` names what is shown: another level is shown whole, or, if `first` is given and the cards would be too small to be
 * read, from there. `boxes` are the frames of a drawing that has any.
 */
export function useFar(
  drawing: Drawing,
  where: string,
  frame: RefObject<HTMLElement | null>,
  first: string | null,
  boxes?: readonly Rect[],
): Far {
  const flow = useReactFlow();
  const isBig = drawing.graph.nodes.length > BIG_FROM && boxes === undefined;
  const isFar = useStore((store) => isBig && (store.panZoom === null || store.transform[2] < FAR_ZOOM));
  const scene = useMemo(() => (isFar ? sceneOf(drawing, (id) => toneOf(drawing, id)) : null), [isFar, drawing]);
  const bounds = useRef({ x: 0, y: 0, width: 0, height: 0 });
  bounds.current = useMemo(() => boundsOf(boxes ?? boxesOf(drawing)), [boxes, drawing]);

  const fit = useCallback(
    (glides = false) => {
      const box = frame.current?.getBoundingClientRect();
      if (frame.current !== null) frame.current.dataset.ready = "";
      if (box === undefined) return;
      // Where there is nothing yet, the first card will stand in the middle.
      if (bounds.current.width === 0)
        void flow.setViewport({ x: (box.width - CARD_WIDTH) / 2, y: (box.height - CARD_HEIGHT) / 2, zoom: MOST_ZOOM });
      else
        void flow.setViewport(
          getViewportForBounds(bounds.current, box.width, box.height, LEAST_ZOOM, MOST_ZOOM, PADDING),
          glides ? gliding() : undefined,
        );
    },
    [flow, frame],
  );
  useEffect(() => {
    fit();
    if (first === null || isBig || flow.getZoom() >= READABLE) return;
    const box = frame.current?.getBoundingClientRect();
    const at = drawing.places.get(first);
    if (box === undefined || at === undefined) return;
    // Too much to be read at once: begin where it begins.
    void flow.setViewport(beginning(boxesOf(drawing), at, drawing.direction, box));
    // Only when another level is opened: edits do not move what is looked at.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [where, fit]);
  return { scene, fit };
}

/** In a size that can be read: the first card at the edge, what stands beside and after it around the middle. */
function beginning(
  boxes: readonly Rect[],
  at: Point,
  direction: Direction,
  seen: { readonly width: number; readonly height: number },
): { x: number; y: number; zoom: number } {
  const [wide, high] = [seen.width / BEGIN, seen.height / BEGIN];
  const isDown = direction === "down";
  const near = boundsOf(
    boxes.filter((box) => (isDown ? box.y >= at.y && box.y < at.y + high : box.x >= at.x && box.x < at.x + wide)),
  );
  const within = (middle: number, from: number, room: number, own: number): number =>
    Math.min(Math.max(middle, from + own + MARGIN - room / 2), from - MARGIN + room / 2);
  const middle = isDown
    ? within(near.x + near.width / 2, at.x, wide, CARD_WIDTH)
    : within(near.y + near.height / 2, at.y, high, CARD_HEIGHT);
  return isDown
    ? { zoom: BEGIN, x: seen.width / 2 - middle * BEGIN, y: MARGIN - at.y * BEGIN }
    : { zoom: BEGIN, x: MARGIN - at.x * BEGIN, y: seen.height / 2 - middle * BEGIN };
}

function boxesOf({ graph, places, direction }: Drawing): Rect[] {
  return [
    ...graph.nodes.map((node) => ({ ...(places.get(node.id) ?? { x: 0, y: 0 }), ...sizeOf(node, direction) })),
    ...graph.notes,
  ];
}

function toneOf(drawing: Drawing, id: string): string | null {
  const mark = drawing.marks[id];
  if (mark !== undefined) return toneOfMark(mark.status);
  return drawing.problems.get(id) === "error" ? "bad" : null;
}

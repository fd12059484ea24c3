/** Decides whether the overview is shown, and fits the viewport. */

import { getViewportForBounds, useReactFlow, useStore } from "@xyflow/react";
import { type RefObject, useCallback, useEffect, useMemo, useRef } from "react";
import type { Point } from "../../model/graph";
import { CARD_HEIGHT, CARD_WIDTH, type Direction, sizeOf } from "../../model/layout";
import { viewportAnimation } from "../animation";
import { toneOfMark } from "../Card";
import type { Drawing } from "../flowElements";
import { boundsOf, LARGE_GRAPH, OVERVIEW_ZOOM, type Rect, type Scene, sceneOf } from "./scene";

const MAX_FIT_ZOOM = 1;
export const MIN_ZOOM = 0.02;
const PADDING = 0.16;
const MIN_READABLE_ZOOM = 0.5;
const START_ZOOM = 0.75;
const MARGIN = 40;

export interface Overview {
  /** Null as long as the cards are rendered as cards. */
  readonly scene: Scene | null;
  /** Fits the whole diagram into the view, optionally animated. */
  readonly fitView: (animated?: boolean) => void;
}

/**
 * `where` identifies the shown level. Another level is fitted into the view or, if `first` is given and the cards
 * would be too
 * small to read, shown from that card on. `boxes` are the frames of a nested diagram.
 */
export function useOverview(
  drawing: Drawing,
  where: string,
  frame: RefObject<HTMLElement | null>,
  first: string | null,
  boxes?: readonly Rect[],
): Overview {
  const flow = useReactFlow();
  const isBig = drawing.graph.nodes.length > LARGE_GRAPH && boxes === undefined;
  const isOverview = useStore((store) => isBig && (store.panZoom === null || store.transform[2] < OVERVIEW_ZOOM));
  const scene = useMemo(
    () => (isOverview ? sceneOf(drawing, (id) => toneOf(drawing, id)) : null),
    [isOverview, drawing],
  );
  const bounds = useRef({ x: 0, y: 0, width: 0, height: 0 });
  bounds.current = useMemo(() => boundsOf(boxes ?? boxesOf(drawing)), [boxes, drawing]);

  const fitView = useCallback(
    (animated = false) => {
      const box = frame.current?.getBoundingClientRect();
      if (frame.current !== null) frame.current.dataset.ready = "";
      if (box === undefined) return;
      // An empty canvas is positioned so that the first card appears in the middle.
      if (bounds.current.width === 0)
        void flow.setViewport({
          x: (box.width - CARD_WIDTH) / 2,
          y: (box.height - CARD_HEIGHT) / 2,
          zoom: MAX_FIT_ZOOM,
        });
      else
        void flow.setViewport(
          getViewportForBounds(bounds.current, box.width, box.height, MIN_ZOOM, MAX_FIT_ZOOM, PADDING),
          animated ? viewportAnimation() : undefined,
        );
    },
    [flow, frame],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another level moves the viewport; edits of the shown level do not
  useEffect(() => {
    fitView();
    if (first === null || isBig || flow.getZoom() >= MIN_READABLE_ZOOM) return;
    const box = frame.current?.getBoundingClientRect();
    const at = drawing.places.get(first);
    if (box === undefined || at === undefined) return;
    // Too large to be readable as a whole: start at the first card.
    void flow.setViewport(viewportFrom(boxesOf(drawing), at, drawing.direction, box));
  }, [where, fitView]);
  return { scene, fitView };
}

/** Viewport at a readable zoom: the first card at the edge, its neighbours centred. */
function viewportFrom(
  boxes: readonly Rect[],
  at: Point,
  direction: Direction,
  seen: { readonly width: number; readonly height: number },
): { x: number; y: number; zoom: number } {
  const [wide, high] = [seen.width / START_ZOOM, seen.height / START_ZOOM];
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
    ? { zoom: START_ZOOM, x: seen.width / 2 - middle * START_ZOOM, y: MARGIN - at.y * START_ZOOM }
    : { zoom: START_ZOOM, x: MARGIN - at.x * START_ZOOM, y: seen.height / 2 - middle * START_ZOOM };
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

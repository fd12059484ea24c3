/** Brings a new card into view and focuses it. */

import { useReactFlow } from "@xyflow/react";
import { type RefObject, useEffect, useRef } from "react";
import { viewportAnimation } from "../diagram/animation";
import type { Drawing } from "../diagram/flowElements";
import { boundsOf, type Rect } from "../diagram/overview/scene";
import type { Point } from "../model/graph";
import { sizeOf } from "../model/layout";

const MARGIN = 48;
const FRAMES = 20;

/** `where` identifies the level. Cards of another level are not new. */
export function useReveal(drawing: Drawing, where: string, frame: RefObject<HTMLElement | null>): void {
  const flow = useReactFlow();
  const before = useRef<{ where: string; ids: ReadonlySet<string> } | null>(null);
  useEffect(() => {
    const { graph, places, selection, direction } = drawing;
    const last = before.current;
    before.current = { where, ids: new Set(graph.nodes.map((node) => node.id)) };
    if (last === null || last.where !== where) return;
    const added = graph.nodes.filter((node) => !last.ids.has(node.id) && selection.has(node.id));
    const box = frame.current?.getBoundingClientRect();
    if (added.length === 0 || box === undefined) return;
    const { x, y, zoom } = flow.getViewport();
    const bounds = boundsOf(
      added.map((node) => ({ ...(places.get(node.id) ?? { x: 0, y: 0 }), ...sizeOf(node, direction) })),
    );
    const seen = {
      x: bounds.x * zoom + x,
      y: bounds.y * zoom + y,
      width: bounds.width * zoom,
      height: bounds.height * zoom,
    };
    const step = scrollInto(seen, box);
    const [only] = added.length === 1 ? added : [];
    const settled =
      step.x === 0 && step.y === 0
        ? Promise.resolve(true)
        : flow.setViewport({ x: x + step.x, y: y + step.y, zoom }, viewportAnimation());
    // The list restores the focus in a frame of its own; this runs after it.
    if (only !== undefined)
      void settled.then(() =>
        requestAnimationFrame(() => requestAnimationFrame(() => focusOn(frame.current, only.id))),
      );
  }, [drawing, where, flow, frame]);
}

/** Offset that makes a box completely visible with a margin. A larger box is aligned at its start. */
export function scrollInto(box: Rect, seen: { readonly width: number; readonly height: number }): Point {
  return { x: along(box.x, box.width, seen.width), y: along(box.y, box.height, seen.height) };
}

function along(from: number, length: number, room: number): number {
  if (from < MARGIN) return MARGIN - from;
  const over = from + length + MARGIN - room;
  return over > 0 ? Math.max(-over, MARGIN - from) : 0;
}

/** The element of a new card exists some frames later. A user who types elsewhere by then keeps the focus. */
function focusOn(frame: HTMLElement | null, id: string, left = FRAMES): void {
  const now = document.activeElement;
  const isOurs =
    now === document.body || now?.classList.contains("hf-designer") === true || frame?.contains(now) === true;
  if (frame === null || !isOurs || left === 0) return;
  const card = frame.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`);
  card?.focus({ preventScroll: true });
  if (document.activeElement !== card || card === null) requestAnimationFrame(() => focusOn(frame, id, left - 1));
}

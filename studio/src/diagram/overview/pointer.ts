/** Pointer interaction with the overview: drag cards, select by rectangle, hover. */

import type { Point } from "../../model/graph";
import { snap } from "../../model/layout";
import { between, cardAt, cardsIn, type OverviewCard, type Rect, type Scene } from "./scene";

export interface OverviewActions {
  select(ids: readonly string[]): void;
  /** Null if cards cannot be moved. */
  readonly move: ((places: ReadonlyMap<string, Point>) => void) | null;
  open(id: string): void;
}

export interface Drag {
  readonly ids: ReadonlySet<string>;
  readonly shift: Point;
}

export interface PointerState {
  readonly drag: Drag | null;
  readonly frame: Rect | null;
  readonly hover: OverviewCard | null;
}

interface PointerPress {
  readonly at: Point;
  readonly card: OverviewCard | null;
  readonly adds: boolean;
  isMoving: boolean;
}

export interface PointerContext {
  readonly element: HTMLElement;
  readonly scene: () => Scene;
  readonly actions: () => OverviewActions;
  /** Converts a point of the page into a point of the diagram. */
  readonly toDrawing: (event: MouseEvent) => Point;
  readonly zoom: () => number;
  readonly changed: (pointer: PointerState) => void;
}

const NOTHING: PointerState = { drag: null, frame: null, hover: null };
const DRAG_THRESHOLD = 3;

/** Listens before the panning of the canvas, and handles only presses on a card or with Shift. */
export function listenToPointer(context: PointerContext): () => void {
  const { element, changed } = context;
  let press: PointerPress | null = null;
  let pointer = NOTHING;
  const show = (next: Partial<PointerState>): void => {
    pointer = { ...pointer, ...next };
    changed(pointer);
  };

  const down = (event: PointerEvent): void => {
    if (event.button !== 0 || !isOnDrawing(event.target)) return;
    const at = context.toDrawing(event);
    const card = cardAt(context.scene(), at);
    if (card === null && !event.shiftKey) return;
    event.stopPropagation();
    press = { at, card, adds: event.shiftKey || event.ctrlKey || event.metaKey, isMoving: false };
    // A drag moves the selection, so a press selects the card at once.
    if (card !== null && !press.adds && !context.scene().selection.has(card.id)) context.actions().select([card.id]);
    element.setPointerCapture(event.pointerId);
  };

  const move = (event: PointerEvent): void => {
    if (press === null) {
      const hover = isOnDrawing(event.target) ? cardAt(context.scene(), context.toDrawing(event)) : null;
      if (hover?.id !== pointer.hover?.id) show({ hover });
      return;
    }
    const at = context.toDrawing(event);
    if (!press.isMoving && Math.hypot(at.x - press.at.x, at.y - press.at.y) * context.zoom() < DRAG_THRESHOLD) return;
    press.isMoving = true;
    if (press.card === null) show({ frame: between(press.at, at), hover: null });
    else if (context.actions().move !== null)
      show({
        drag: {
          ids: draggedIds(context.scene(), press.card),
          shift: { x: snap(at.x - press.at.x), y: snap(at.y - press.at.y) },
        },
        hover: null,
      });
  };

  const up = (event: PointerEvent): void => {
    if (press === null) return;
    const { card, adds, isMoving } = press;
    const { drag, frame } = pointer;
    press = null;
    element.releasePointerCapture(event.pointerId);
    show(NOTHING);
    if (drag !== null) context.actions().move?.(movedBy(context.scene(), drag));
    else if (frame !== null) context.actions().select(cardsIn(context.scene(), frame));
    else if (card !== null && !isMoving)
      context.actions().select(adds ? toggled(context.scene().selection, card.id) : [card.id]);
  };

  const cancel = (): void => {
    press = null;
    show(NOTHING);
  };
  const doubleClick = (event: MouseEvent): void => {
    const card = isOnDrawing(event.target) ? cardAt(context.scene(), context.toDrawing(event)) : null;
    if (card !== null) context.actions().open(card.id);
  };
  // The mouse and touch events of a handled press must neither pan nor clear the selection.
  const keep = (event: Event): void => {
    if (press !== null) event.stopPropagation();
  };
  const click = (event: MouseEvent): void => {
    if (isOnDrawing(event.target) && cardAt(context.scene(), context.toDrawing(event)) !== null)
      event.stopPropagation();
  };

  const listeners: readonly (readonly [string, (event: never) => void])[] = [
    ["pointerdown", down],
    ["pointermove", move],
    ["pointerup", up],
    ["pointercancel", cancel],
    ["pointerleave", cancel],
    ["mousedown", keep],
    ["touchstart", keep],
    ["click", click],
    ["dblclick", doubleClick],
  ];
  for (const [name, handler] of listeners)
    element.addEventListener(name, handler as EventListener, { capture: name !== "pointerleave" });
  return () => {
    for (const [name, handler] of listeners)
      element.removeEventListener(name, handler as EventListener, { capture: name !== "pointerleave" });
  };
}

function isOnDrawing(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    (target.closest(".react-flow__pane") !== null || target.classList.contains("hf-canvas"))
  );
}

function draggedIds(scene: Scene, card: OverviewCard): ReadonlySet<string> {
  const chosen = [...scene.selection].filter((id) => scene.cards.has(id));
  return new Set(chosen.includes(card.id) ? chosen : [card.id]);
}

export function movedBy(scene: Scene, drag: Drag): ReadonlyMap<string, Point> {
  return new Map(
    [...drag.ids].flatMap((id) => {
      const card = scene.cards.get(id);
      return card === undefined ? [] : [[id, { x: card.x + drag.shift.x, y: card.y + drag.shift.y }] as const];
    }),
  );
}

function toggled(selection: ReadonlySet<string>, id: string): string[] {
  return selection.has(id) ? [...selection].filter((item) => item !== id) : [...selection, id];
}

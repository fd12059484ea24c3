/** What the pointer does on a workflow seen from afar: take hold of cards, draw a frame around some, look at one. */

import type { Point } from "../../model/graph";
import { snap } from "../../model/layout";
import { between, cardAt, cardsIn, type FarCard, type Rect, type Scene } from "./scene";

export interface FarActions {
  select(ids: readonly string[]): void;
  /** Null where nothing may be moved. */
  readonly move: ((places: ReadonlyMap<string, Point>) => void) | null;
  open(id: string): void;
}

export interface Held {
  readonly ids: ReadonlySet<string>;
  readonly shift: Point;
}

export interface Hands {
  readonly held: Held | null;
  readonly frame: Rect | null;
  readonly hover: FarCard | null;
}

interface Press {
  readonly at: Point;
  readonly card: FarCard | null;
  readonly adds: boolean;
  isMoving: boolean;
}

export interface HandsAround {
  readonly element: HTMLElement;
  readonly scene: () => Scene;
  readonly actions: () => FarActions;
  /** From a point of the page to one of the drawing. */
  readonly toDrawing: (event: MouseEvent) => Point;
  readonly zoom: () => number;
  readonly changed: (hands: Hands) => void;
}

const NOTHING: Hands = { held: null, frame: null, hover: null };
const LEAST_PIXELS = 3;

/** Listens before the canvas' own panning does, and takes only what is meant for a card (or begins with Shift). */
export function listen(around: HandsAround): () => void {
  const { element, changed } = around;
  let press: Press | null = null;
  let hands = NOTHING;
  const show = (next: Partial<Hands>): void => {
    hands = { ...hands, ...next };
    changed(hands);
  };

  const down = (event: PointerEvent): void => {
    if (event.button !== 0 || !isOnDrawing(event.target)) return;
    const at = around.toDrawing(event);
    const card = cardAt(around.scene(), at);
    if (card === null && !event.shiftKey) return;
    event.stopPropagation();
    press = { at, card, adds: event.shiftKey || event.ctrlKey || event.metaKey, isMoving: false };
    // Taken hold of at once: what moves is what is selected.
    if (card !== null && !press.adds && !around.scene().selection.has(card.id)) around.actions().select([card.id]);
    element.setPointerCapture(event.pointerId);
  };

  const move = (event: PointerEvent): void => {
    if (press === null) {
      const hover = isOnDrawing(event.target) ? cardAt(around.scene(), around.toDrawing(event)) : null;
      if (hover?.id !== hands.hover?.id) show({ hover });
      return;
    }
    const at = around.toDrawing(event);
    if (!press.isMoving && Math.hypot(at.x - press.at.x, at.y - press.at.y) * around.zoom() < LEAST_PIXELS) return;
    press.isMoving = true;
    if (press.card === null) show({ frame: between(press.at, at), hover: null });
    else if (around.actions().move !== null)
      show({
        held: {
          ids: idsHeld(around.scene(), press.card),
          shift: { x: snap(at.x - press.at.x), y: snap(at.y - press.at.y) },
        },
        hover: null,
      });
  };

  const up = (event: PointerEvent): void => {
    if (press === null) return;
    const { card, adds, isMoving } = press;
    const { held, frame } = hands;
    press = null;
    element.releasePointerCapture(event.pointerId);
    show(NOTHING);
    if (held !== null) around.actions().move?.(movedBy(around.scene(), held));
    else if (frame !== null) around.actions().select(cardsIn(around.scene(), frame));
    else if (card !== null && !isMoving)
      around.actions().select(adds ? toggled(around.scene().selection, card.id) : [card.id]);
  };

  const cancel = (): void => {
    press = null;
    show(NOTHING);
  };
  const twice = (event: MouseEvent): void => {
    const card = isOnDrawing(event.target) ? cardAt(around.scene(), around.toDrawing(event)) : null;
    if (card !== null) around.actions().open(card.id);
  };
  // The mouse and touch events of a press that is ours are not for panning, nor for the click that empties a selection.
  const keep = (event: Event): void => {
    if (press !== null) event.stopPropagation();
  };
  const click = (event: MouseEvent): void => {
    if (isOnDrawing(event.target) && cardAt(around.scene(), around.toDrawing(event)) !== null) event.stopPropagation();
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
    ["dblclick", twice],
  ];
  for (const [name, does] of listeners)
    element.addEventListener(name, does as EventListener, { capture: name !== "pointerleave" });
  return () => {
    for (const [name, does] of listeners)
      element.removeEventListener(name, does as EventListener, { capture: name !== "pointerleave" });
  };
}

function isOnDrawing(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    (target.closest(".react-flow__pane") !== null || target.classList.contains("hf-canvas"))
  );
}

function idsHeld(scene: Scene, card: FarCard): ReadonlySet<string> {
  const chosen = [...scene.selection].filter((id) => scene.cards.has(id));
  return new Set(chosen.includes(card.id) ? chosen : [card.id]);
}

export function movedBy(scene: Scene, held: Held): ReadonlyMap<string, Point> {
  return new Map(
    [...held.ids].flatMap((id) => {
      const card = scene.cards.get(id);
      return card === undefined ? [] : [[id, { x: card.x + held.shift.x, y: card.y + held.shift.y }] as const];
    }),
  );
}

function toggled(selection: ReadonlySet<string>, id: string): string[] {
  return selection.has(id) ? [...selection].filter((item) => item !== id) : [...selection, id];
}

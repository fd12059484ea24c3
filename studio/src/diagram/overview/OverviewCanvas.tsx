/** Overview of a large workflow: one canvas with the diagram, and a second one above it for dragged cards. */

import { useReactFlow, useStoreApi } from "@xyflow/react";
import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef } from "react";
import { defineMessages } from "../../i18n/messages";
import { useTheme } from "../../ui/theme";
import {
  type Colours,
  clear,
  coloursOf,
  type Part,
  paintFrame,
  paintHint,
  paintNotes,
  paintScene,
  type View,
} from "./paint";
import { listenToPointer, type OverviewActions, type PointerState } from "./pointer";
import { nextTo, type Rect, type Scene } from "./scene";

const t = defineMessages("overview", {
  label:
    "Overview of {n} activities. Use the arrow keys to move between activities, Search to find one, and 0 to zoom to full size.",
});
const STEPS: Readonly<Record<string, 1 | -1>> = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
const ENDS: Readonly<Record<string, 1 | -1>> = { Home: 1, End: -1 };

interface OverviewCanvasProps {
  readonly scene: Scene;
  readonly actions: OverviewActions;
}

const NOTHING: PointerState = { drag: null, frame: null, hover: null };

export function OverviewCanvas({ scene, actions }: OverviewCanvasProps) {
  const base = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);
  const now = useRef({ scene, actions, pointer: NOTHING });
  const painter = useRef<Painter | null>(null);
  const store = useStoreApi();
  const flow = useReactFlow();
  const theme = useTheme((state) => state.theme);
  const chosen = useId();
  const current = [...scene.selection].map((id) => scene.cards.get(id)).find((card) => card !== undefined) ?? null;

  useLayoutEffect(() => {
    const [below, top] = [base.current, overlay.current];
    const element = below?.closest<HTMLElement>(".hf-canvas");
    if (below === null || top === null || !element) return undefined;
    const view = (): View => {
      const [x, y, zoom] = store.getState().transform;
      return { x, y, zoom, width: below.clientWidth, height: below.clientHeight };
    };
    const made = new Painter(below, top, view, () => now.current);
    painter.current = made;
    const sizes = new ResizeObserver(() => made.paint());
    sizes.observe(below);
    let last = store.getState().transform;
    const stop = store.subscribe(({ transform }) => {
      if (transform !== last) {
        last = transform;
        made.ask("all");
      }
    });
    const rest = listenToPointer({
      element,
      scene: () => now.current.scene,
      actions: () => now.current.actions,
      zoom: () => store.getState().transform[2],
      toDrawing: (event) => {
        const box = below.getBoundingClientRect();
        const { x, y, zoom } = view();
        return { x: (event.clientX - box.x - x) / zoom, y: (event.clientY - box.y - y) / zoom };
      },
      changed: (pointer) => {
        const wasDragging = now.current.pointer.drag !== null;
        now.current = { ...now.current, pointer };
        made.ask(wasDragging === (pointer.drag !== null) ? "overlay" : "all");
      },
    });
    return () => {
      sizes.disconnect();
      stop();
      rest();
      made.stop();
    };
  }, [store]);

  useLayoutEffect(() => {
    now.current = { ...now.current, scene, actions };
    painter.current?.paint();
  }, [scene, actions]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme sets the CSS variables that paint() reads
  useEffect(() => painter.current?.paint(), [theme]);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [step, end] = [STEPS[event.key], ENDS[event.key]];
    if (event.key === "Enter" && current !== null) actions.open(current.id);
    else if (step === undefined && end === undefined) return;
    else {
      const next = nextTo(scene, end === undefined ? (current?.id ?? null) : null, end ?? step ?? 1);
      if (next !== null) {
        actions.select([next.id]);
        if (!isSeen(next, store.getState()))
          void flow.setCenter(next.x + next.width / 2, next.y + next.height / 2, { zoom: flow.getZoom() });
      }
    }
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <>
      <canvas
        ref={base}
        className="hf-overview"
        role="listbox"
        tabIndex={0}
        aria-label={t("label", { n: scene.cards.size })}
        aria-activedescendant={current === null ? undefined : chosen}
        onKeyDown={onKeyDown}
      >
        {current === null ? null : (
          <span id={chosen} role="option" tabIndex={-1} aria-selected="true">
            {current.title}
          </span>
        )}
      </canvas>
      <div aria-hidden="true" style={{ display: "contents" }}>
        <canvas ref={overlay} className="hf-overview" />
      </div>
    </>
  );
}

/** Whether a card is completely visible. */
function isSeen(
  card: Rect,
  {
    transform: [x, y, zoom],
    width,
    height,
  }: { readonly transform: readonly [number, number, number]; readonly width: number; readonly height: number },
): boolean {
  const [left, top] = [card.x * zoom + x, card.y * zoom + y];
  return left >= 0 && top >= 0 && left + card.width * zoom <= width && top + card.height * zoom <= height;
}

interface Now {
  readonly scene: Scene;
  readonly pointer: PointerState;
}

const NO_SHIFT = { x: 0, y: 0 };

class Painter {
  #turn = 0;
  #wants: "overlay" | "all" = "overlay";
  #colours: Colours | null = null;

  constructor(
    readonly base: HTMLCanvasElement,
    readonly overlay: HTMLCanvasElement,
    readonly view: () => View,
    readonly now: () => Now,
  ) {}

  /** Paints once in the next frame, however often it is requested. */
  ask(what: "overlay" | "all"): void {
    if (what === "all") this.#wants = "all";
    if (this.#turn === 0)
      this.#turn = requestAnimationFrame(() => (this.#wants === "all" ? this.paint() : this.#paintAbove()));
  }

  stop(): void {
    cancelAnimationFrame(this.#turn);
  }

  paint(): void {
    const { scene, pointer } = this.now();
    const drag = pointer.drag?.ids;
    const context = this.#sheet(this.base);
    if (context === null) return;
    const [view, colours] = [this.view(), coloursOf(this.base)];
    this.#colours = colours;
    paintNotes(context, scene, view, colours);
    const rest: Part = {
      has: (id) => drag?.has(id) !== true,
      hasEdge: (source, target) => drag === undefined || !(drag.has(source) || drag.has(target)),
      shift: NO_SHIFT,
      isMoved: () => false,
    };
    paintScene(context, scene, rest, view, colours);
    this.#paintAbove();
  }

  #paintAbove(): void {
    this.#turn = 0;
    this.#wants = "overlay";
    const { scene, pointer } = this.now();
    const context = this.#sheet(this.overlay);
    if (context === null) return;
    const view = this.view();
    this.#colours ??= coloursOf(this.overlay);
    const colours = this.#colours;
    const { drag, frame, hover } = pointer;
    if (drag !== null) {
      const part: Part = {
        has: (id) => drag.ids.has(id),
        hasEdge: (source, target) => drag.ids.has(source) || drag.ids.has(target),
        shift: drag.shift,
        isMoved: (id) => drag.ids.has(id),
      };
      paintScene(context, scene, part, view, colours);
    }
    if (frame !== null) paintFrame(context, frame, view, colours);
    if (hover !== null) paintHint(context, hover, view, colours);
  }

  /** Clears a canvas and resizes it to its size on the page. */
  #sheet(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
    const context = canvas.getContext("2d");
    const [view, ratio] = [this.view(), devicePixelRatio];
    const [width, height] = [Math.round(view.width * ratio), Math.round(view.height * ratio)];
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    if (context !== null) clear(context, view, ratio);
    return context;
  }
}

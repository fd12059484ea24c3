import { describe, expect, it } from "vitest";
import { catalogue } from "../../model/catalogue.fixture";
import type { Definition } from "../../model/document";
import { levelOf, ROOT } from "../../model/focus";
import { graphOf, type Point } from "../../model/graph";
import { placeAll } from "../../model/layout";
import type { Drawing } from "../flowElements";
import { listenToPointer, type OverviewActions, type PointerState } from "./pointer";
import { between, cardAt, cardsIn, cornersOf, nextTo, type Scene, sceneOf } from "./scene";

const line = (id: string, x: number, y: number) => ({
  id,
  type: "WriteLine",
  inputs: { text: id },
  metadata: { position: { x, y } },
});

const chart = {
  format: "holdfast/definition@1",
  id: "chart",
  root: {
    id: "root",
    type: "Flowchart",
    activities: [line("one", 0, 0), line("two", 0, 200), line("three", 400, 200)],
    connections: [
      { from: "one", to: "two" },
      { from: "two", to: "three" },
    ],
  },
} as unknown as Definition;

function sceneWith(selection: readonly string[]): Scene {
  const level = levelOf(chart, catalogue, ROOT);
  const graph = graphOf(level, catalogue);
  const drawing: Drawing = {
    graph,
    level: level.kind,
    places: placeAll(graph, level.kind, "down"),
    direction: "down",
    selection: new Set(selection),
    problems: new Map(),
    marks: {},
    readOnly: false,
  };
  return sceneOf(drawing, () => null);
}

describe("a scene", () => {
  const scene = sceneWith([]);

  it("is traversed in reading order", () => {
    const walked: string[] = [];
    for (let card = nextTo(scene, null, 1); card !== null; card = nextTo(scene, card.id, 1)) walked.push(card.id);
    expect(walked).toEqual(["one", "two", "three"]);
    expect(nextTo(scene, null, -1)?.id).toBe("three");
    expect(nextTo(scene, "two", -1)?.id).toBe("one");
    expect(nextTo(scene, "gone", 1)?.id).toBe("one");
  });

  it("finds the cards at a point and in a rectangle", () => {
    expect(cardAt(scene, { x: 10, y: 10 })?.id).toBe("one");
    expect(cardAt(scene, { x: 300, y: 10 })).toBeNull();
    expect(cardsIn(scene, between({ x: 700, y: 260 }, { x: -10, y: 150 }))).toEqual(["two", "three"]);
  });

  it("computes bounds and corners of connections", () => {
    expect(scene.bounds).toEqual({ x: 0, y: 0, width: 632, height: 256 });
    const [one, two] = [scene.cards.get("one")!, scene.cards.get("two")!];
    expect(cornersOf(one, two, "down")).toEqual([
      { x: 116, y: 56 },
      { x: 116, y: 128 },
      { x: 116, y: 128 },
      { x: 116, y: 200 },
    ]);
    expect(cornersOf(two, scene.cards.get("three")!, "right").at(-1)).toEqual({ x: 400, y: 228 });
  });
});

describe("pointer", () => {
  /** A page on which a screen point is the diagram point divided by two. */
  function context(readOnly = false) {
    const element = document.createElement("div");
    element.className = "hf-canvas";
    element.setPointerCapture = () => undefined;
    element.releasePointerCapture = () => undefined;
    let scene = sceneWith([]);
    const moved: ReadonlyMap<string, Point>[] = [];
    const opened: string[] = [];
    const shown: PointerState[] = [];
    const actions: OverviewActions = {
      select: (ids) => (scene = sceneWith(ids)),
      move: readOnly ? null : (places) => void moved.push(places),
      open: (id) => void opened.push(id),
    };
    const stop = listenToPointer({
      element,
      scene: () => scene,
      actions: () => actions,
      zoom: () => 0.5,
      toDrawing: (event) => ({ x: event.clientX * 2, y: event.clientY * 2 }),
      changed: (pointer) => void shown.push(pointer),
    });
    const fire = (type: string, x: number, y: number, more: MouseEventInit = {}): MouseEvent => {
      const event = new MouseEvent(type, {
        clientX: x,
        clientY: y,
        button: 0,
        bubbles: true,
        cancelable: true,
        ...more,
      });
      element.dispatchEvent(event);
      return event;
    };
    return { fire, moved, opened, shown, stop, selection: () => [...scene.selection] };
  }

  it("drags a card and snaps it to the grid", () => {
    const { fire, moved, shown, selection } = context();
    fire("pointerdown", 5, 5);
    expect(selection()).toEqual(["one"]);
    fire("pointermove", 6, 5);
    expect(shown.at(-1)?.drag ?? null).toBeNull();
    fire("pointermove", 55, 25);
    expect(shown.at(-1)?.drag?.shift).toEqual({ x: 104, y: 40 });
    fire("pointerup", 55, 25);
    expect([...(moved[0] ?? [])]).toEqual([["one", { x: 104, y: 40 }]]);
    expect(shown.at(-1)?.drag).toBeNull();
  });

  it("moves the selection, unless it is read-only", () => {
    for (const readOnly of [false, true]) {
      const { fire, moved, selection } = context(readOnly);
      fire("pointerdown", -50, 80, { shiftKey: true });
      fire("pointermove", 350, 150, { shiftKey: true });
      fire("pointerup", 350, 150, { shiftKey: true });
      expect(selection()).toEqual(["two", "three"]);
      fire("pointerdown", 5, 105);
      fire("pointermove", 45, 105);
      fire("pointerup", 45, 105);
      expect(moved.map((places) => [...places.keys()])).toEqual(readOnly ? [] : [["two", "three"]]);
    }
  });

  it("toggles cards in the selection", () => {
    const { fire, selection } = context();
    for (const y of [5, 105]) {
      fire("pointerdown", 5, y, { ctrlKey: true });
      fire("pointerup", 5, y, { ctrlKey: true });
    }
    expect(selection()).toEqual(["one", "two"]);
    fire("pointerdown", 5, 5, { ctrlKey: true });
    fire("pointerup", 5, 5, { ctrlKey: true });
    expect(selection()).toEqual(["two"]);
  });

  it("leaves empty space to panning, reports hover, and opens a card on double click", () => {
    const { fire, opened, shown, selection, stop } = context();
    fire("pointerdown", 150, 5);
    fire("pointermove", 155, 5);
    fire("pointerup", 155, 5);
    expect(selection()).toEqual([]);
    fire("pointermove", 5, 105);
    expect(shown.at(-1)?.hover?.id).toBe("two");
    fire("dblclick", 5, 105);
    expect(opened).toEqual(["two"]);
    stop();
    fire("pointermove", 5, 5);
    expect(shown.at(-1)?.hover?.id).toBe("two");
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { catalogue } from "../model/catalogue.fixture";
import { copyOf, readClip, writeClip } from "../model/clipboard";
import { type Definition, findActivity, placesOf } from "../model/document";
import { machine, order } from "../model/documents.fixture";
import { type Focus, levelOf, ROOT } from "../model/focus";
import { withIds } from "../model/ids";
import type { Command } from "./command";
import * as commands from "./commands";
import { shapeErrors } from "./documentShape.fixture";
import { mayConnect } from "./rules";
import { EditorSession } from "./session";
import { keysOf, shortcutOf } from "./shortcuts";

const open = (document: Definition = order, focus: Focus = ROOT): EditorSession =>
  new EditorSession(document, catalogue, { focus });
const chart = (session: EditorSession) => findActivity(session.get().document, "chart")!;
const ends = (session: EditorSession) =>
  (chart(session).connections ?? []).map((item) => `${item.from}-${item.outcome ?? ""}>${item.to}`);

// -- any commands, in any order ----------------------------------------------------------------------------------------

const TYPES = [
  "WriteLine",
  "Delay",
  "If",
  "Sequence",
  "FlowSwitch",
  "Flowchart",
  "Parallel",
  "Event",
  "Try",
  "StateMachine",
];
const FOCI: Focus[] = [
  ROOT,
  { id: "check", port: "then" },
  { id: "check", port: "otherwise" },
  { id: "door-machine", port: "states", index: 0, key: "exit" },
];

type Make = (session: EditorSession) => Command | null;
type Step = (session: EditorSession) => void;

const pick = <T>(items: readonly T[], at: number): T | undefined => items[at % Math.max(items.length, 1)];
const idsIn = (session: EditorSession): string[] => [...placesOf(session.get().document).keys()];
const here = (session: EditorSession) => levelOf(session.get().document, catalogue, session.get().focus);

const number = fc.nat({ max: 50 });
const word = fc.constantFrom("a", "b", "total", "x y", "");
const command = (make: fc.Arbitrary<Make>): fc.Arbitrary<Step> =>
  make.map((one) => (session) => {
    const made = one(session);
    if (made !== null) session.run(made);
  });

const edits: fc.Arbitrary<Step> = fc.oneof(
  command(
    fc.tuple(fc.constantFrom(...TYPES), number, number).map(([type, n, m]) => (session) => {
      const level = here(session);
      const source = pick(level.activities, n);
      return commands.addActivity({
        type,
        at: { x: n * 10, y: m * 10 },
        after: m % 3 === 0 && source ? { id: source.id, outcome: m % 2 ? "Done" : null } : undefined,
        split: m % 5 === 0 && level.connections.length > 0 ? n % level.connections.length : undefined,
      });
    }),
  ),
  command(fc.constant(() => commands.removeSelection())),
  command(
    fc.tuple(number, number, word).map(([n, m, outcome]) => (session) => {
      const { activities, kind, states } = here(session);
      if (kind === "states")
        return states.length
          ? commands.connect(`state:${n % states.length}`, null, `state:${m % states.length}`)
          : null;
      const [from, to] = [pick(activities, n), pick(activities, m)];
      return from && to ? commands.connect(from.id, outcome || null, to.id) : null;
    }),
  ),
  command(number.map((n) => () => commands.disconnect(n % 6))),
  command(
    fc.tuple(number, number).map(([n, m]) => (session) => {
      const to = pick(here(session).activities, m);
      return to ? commands.redirect(n % 4, { to: to.id }) : null;
    }),
  ),
  command(
    fc.tuple(number, word).map(
      ([n, name]) =>
        (session) =>
          commands.renameActivity(pick(idsIn(session), n)!, name),
    ),
  ),
  command(
    fc.tuple(number, word).map(
      ([n, name]) =>
        (session) =>
          commands.changeId(pick(idsIn(session), n)!, name),
    ),
  ),
  command(
    fc.tuple(number, word, fc.jsonValue()).map(
      ([n, name, value]) =>
        (session) =>
          commands.setInput(pick(idsIn(session), n)!, name || "text", value as never),
    ),
  ),
  command(
    fc.tuple(number, word).map(
      ([n, name]) =>
        (session) =>
          commands.setOutput(pick(idsIn(session), n)!, "result", name),
    ),
  ),
  command(
    fc.tuple(number, fc.boolean()).map(
      ([n, on]) =>
        (session) =>
          commands.setOption(pick(idsIn(session), n)!, "can_start", on || undefined),
    ),
  ),
  command(
    fc.tuple(fc.array(number, { maxLength: 3 }), number).map(([ns, m]) => (session) => {
      const { activities, kind, states } = here(session);
      const ids =
        kind === "states" ? states.map((_, index) => `state:${index}`) : activities.map((activity) => activity.id);
      return commands.move(
        new Map(
          ns.flatMap((n) => {
            const id = pick(ids, n);
            return id ? [[id, { x: n * 7, y: m * 7 }] as const] : [];
          }),
        ),
      );
    }),
  ),
  command(fc.constantFrom("Sequence", "If", "Try", "Parallel").map((type) => () => commands.wrap(type))),
  command(
    fc.tuple(number, number).map(([n, m]) => (session) => {
      const one = pick(here(session).activities, n);
      return one ? commands.reorder(one.id, m % 5) : null;
    }),
  ),
  command(fc.constant(() => commands.duplicate())),
  command(fc.constantFrom("left", "middle", "bottom").map((side) => () => commands.align(side as "left"))),
  command(fc.constantFrom("x", "y").map((axis) => () => commands.distribute(axis as "x"))),
  command(fc.boolean().map((all) => () => commands.autoLayout(all))),
  command(
    fc.tuple(number, word).map(
      ([n, text]) =>
        () =>
          commands.addNote({ x: n, y: n }, text),
    ),
  ),
  command(word.map((text) => () => commands.changeNote("note1", { text }))),
  command(
    fc.tuple(number, word).map(
      ([n, text]) =>
        (session) =>
          commands.addComment(pick(idsIn(session), n)!, { by: "me", at: "now", text }),
    ),
  ),
  command(
    fc.tuple(number, word).map(
      ([n, name]) =>
        () =>
          commands.declare("variables", n % 3, name ? { name, type: "string" } : null),
    ),
  ),
  command(word.map((name) => () => commands.setField("name", name || undefined))),
  command(word.map((value) => () => commands.setDefinitionOption("commit", value || undefined))),
  command(
    fc.tuple(number, word).map(
      ([n, name]) =>
        () =>
          commands.renameState(n % 3, name),
    ),
  ),
  command(number.map((n) => () => commands.addState({ x: n, y: n }, n % 2 ? "state:0" : null))),
  command(
    fc.tuple(number, word).map(
      ([n, name]) =>
        () =>
          commands.setTransition(n % 3, "name", name),
    ),
  ),
  command(
    fc.tuple(number, fc.constantFrom(...TYPES)).map(([n, type]) => (session) => {
      const one = pick(here(session).activities, n);
      return one ? commands.replaceType(one.id, type) : null;
    }),
  ),
  fc.array(number, { maxLength: 4 }).map((ns) => (session: EditorSession) => {
    const { activities, states } = here(session);
    const all = [
      ...activities.map((activity) => activity.id),
      ...states.map((_, index) => `state:${index}`),
      "edge:0",
      "note:note1",
    ];
    session.select([...new Set(ns.map((n) => pick(all, n)!))]);
  }),
  fc.constantFrom(...FOCI).map((focus) => (session: EditorSession) => session.open(focus)),
);

describe("properties", () => {
  for (const [name, document] of [
    ["a flowchart", order],
    ["a state machine", machine],
  ] as const) {
    it(`${name}: undo of any commands restores the start, redo restores the end`, () => {
      fc.assert(
        fc.property(fc.array(edits, { maxLength: 30 }), (steps) => {
          const session = open(document);
          for (const step of steps) step(session);
          const end = session.get().document;
          while (session.undo());
          expect(JSON.stringify(session.get().document)).toBe(JSON.stringify(document));
          while (session.redo());
          expect(JSON.stringify(session.get().document)).toBe(JSON.stringify(end));
        }),
        { numRuns: 300 },
      );
    });

    it(`${name}: every command keeps a valid document`, () => {
      fc.assert(
        fc.property(fc.array(edits, { maxLength: 30 }), (steps) => {
          const session = open(document);
          for (const step of steps) {
            step(session);
            expect(shapeErrors(session.get().document)).toEqual([]);
          }
        }),
        { numRuns: 200 },
      );
    });
  }
});

// -- one by one --------------------------------------------------------------------------------------------------------

describe("adding", () => {
  it("gives a generated sequence a unique id", () => {
    const session = open(order, { id: "check", port: "otherwise" });
    session.run(commands.addActivity({ type: "Sequence" }));

    expect(shapeErrors(session.get().document)).toEqual([]);
  });

  it("connects from the outcome it was dragged from", () => {
    const session = open();
    session.run(
      commands.addActivity({ type: "WriteLine", after: { id: "kind", outcome: "Default" }, at: { x: 3, y: 5 } }),
    );
    expect(ends(session)).toContain("kind-Default>WriteLine1");
    expect(session.get().selection).toEqual(["WriteLine1"]);
    expect(findActivity(session.get().document, "WriteLine1")?.metadata).toEqual({ position: { x: 0, y: 8 } });
  });

  it("splits a connection", () => {
    const session = open();
    session.run(commands.addActivity({ type: "Delay", split: 1 }));
    expect(ends(session)).toEqual(expect.arrayContaining(["large-True>Delay1", "Delay1->kind"]));
  });

  it("turns a port with one activity into a sequence", () => {
    const session = open(order, { id: "check", port: "otherwise" });
    session.run(commands.addActivity({ type: "Delay" }));
    const otherwise = findActivity(session.get().document, "check")!.otherwise;
    expect(otherwise).toMatchObject({ type: "Sequence", activities: [{ id: "else" }, { type: "Delay" }] });
    session.undo();
    expect(session.get().document).toEqual(order);
  });

  it("marks a trigger without incoming connection as start", () => {
    const session = open();
    session.run(commands.addActivity({ type: "Event" }));
    expect(findActivity(session.get().document, "Event1")?.options).toEqual({ can_start: true });
    session.run(commands.addActivity({ type: "Event", after: { id: "placed", outcome: null } }));
    expect(findActivity(session.get().document, "Event2")?.options).toBeUndefined();
  });
});

describe("reactions", () => {
  it("bridges a removed card with one incoming and one outgoing connection", () => {
    const session = open();
    session.select(["check"]);
    session.run(commands.removeSelection());
    expect(ends(session)).toEqual(["placed->large", "large-True>kind", "large-False>end", "kind-B>end", "kind-A>end"]);
    expect(session.get().selection).toEqual([]);
  });

  it("renames the connections of a renamed case, and drops those of a removed one", () => {
    const session = open();
    session.run(
      commands.setPort("kind", "cases", [
        { label: "Big", condition: true },
        { label: "B", condition: false },
      ]),
    );
    expect(ends(session)).toContain("kind-Big>check");
    session.run(commands.setPort("kind", "cases", [{ label: "Big", condition: true }]));
    expect(ends(session).filter((end) => end.startsWith("kind"))).toEqual(["kind-Big>check"]);
  });

  it("renames references with a variable", () => {
    const session = open();
    session.run(commands.declare("variables", 0, { name: "answer", type: "string" }));
    expect(findActivity(session.get().document, "check")?.inputs).toEqual({ condition: { $variable: "answer" } });
  });

  it("renames transitions with a state", () => {
    const session = open(machine);
    session.run(commands.renameState(0, "Shut"));
    const root = session.get().document.root;
    expect(root.transitions).toMatchObject([{ from: "Shut", to: "Open" }]);
    expect(root.inputs).toEqual({ initial: "Shut" });
  });

  it("names a transition after its target", () => {
    const session = open({
      ...machine,
      root: { ...machine.root, transitions: [{ name: "to Open", from: "Closed", to: "Open" }] },
    });
    const index = (session.get().document.root.states as { name: string }[]).findIndex(
      (state) => state.name === "Open",
    );
    session.run(commands.renameState(index, "Ajar"));
    expect(session.get().document.root.transitions).toEqual([{ name: "to Ajar", from: "Closed", to: "Ajar" }]);
  });

  it("returns to the root when the focused container is removed", () => {
    const session = open(order, { id: "check", port: "then" });
    session.run(commands.setSource({ ...order, root: { type: "Flowchart", id: "chart", activities: [] } }));
    expect(session.get().focus).toEqual(ROOT);
  });
});

describe("rules", () => {
  const level = levelOf(order, catalogue, ROOT);

  it("explains a refused connection", () => {
    expect(mayConnect(level, catalogue, "end", null, "placed")).toEqual({
      ok: false,
      why: "This activity ends the flow and has no outgoing connections.",
    });
    expect(mayConnect(level, catalogue, "placed", "Done", "large").ok).toBe(false);
    expect(mayConnect(level, catalogue, "placed", null, "end").ok).toBe(true);
  });

  it("refuses every command on a document that is read-only", () => {
    const session = new EditorSession(order, catalogue, { readOnly: true });
    expect(session.run(commands.addActivity({ type: "Delay" })).ok).toBe(false);
    expect(session.get().document).toBe(order);
  });

  it("refuses an id that is in use", () => {
    const session = open();
    expect(session.run(commands.changeId("large", "placed"))).toEqual({
      ok: false,
      why: "“placed” is already in use.",
    });
  });
});

describe("history", () => {
  it("merges the letters of a word into one step", () => {
    const session = open();
    for (const text of ["h", "he", "hey"]) session.run(commands.setInput("placed", "text", text));
    session.run(commands.setInput("large", "condition", true));
    session.undo();
    expect(findActivity(session.get().document, "placed")?.inputs).toEqual({ text: "hey" });
    session.undo();
    expect(session.get().document).toEqual(order);
    expect(session.undo()).toBe(false);
  });

  it("starts a new step after a change of selection", () => {
    const session = open();
    session.run(commands.setInput("placed", "text", "a"));
    session.select(["large"]);
    session.run(commands.setInput("placed", "text", "b"));
    session.undo();
    expect(findActivity(session.get().document, "placed")?.inputs).toEqual({ text: "a" });
  });
});

describe("paste", () => {
  it("pastes activities with their connections from another workflow", () => {
    const text = writeClip(copyOf(levelOf(order, catalogue, ROOT), new Set(["kind", "check"])));
    const other = withIds({ id: "y", root: { type: "Flowchart", id: "chart", activities: [] } });
    const session = open(other);
    session.run(commands.paste(readClip(text)!));
    expect(ends(session)).toEqual(["kind-A>check"]);
    session.run(commands.paste(readClip(text)!));
    expect(ends(session)).toEqual(["kind-A>check", "FlowSwitch1-A>If1"]);
  });
});

describe("auto-layout", () => {
  it("keeps cards moved by hand and repositions the others", () => {
    const session = open();
    session.run(commands.move(new Map([["large", { x: 800, y: 800 }]])));
    session.run(commands.autoLayout());
    const place = (id: string) => findActivity(session.get().document, id)?.metadata?.position;
    expect(place("large")).toEqual({ x: 800, y: 800, pinned: true });
    expect(place("placed")).toBeDefined();
    session.run(commands.autoLayout(true));
    expect(place("large")).not.toMatchObject({ x: 800, y: 800 });
  });
});

describe("shortcuts", () => {
  const press = (key: string, more = {}) =>
    shortcutOf({ key, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...more });

  it("reads keys", () => {
    expect(press("z", { ctrlKey: true })).toBe("undo");
    expect(press("Z", { metaKey: true, shiftKey: true })).toBe("redo");
    expect(press("?", { shiftKey: true })).toBe("help");
    expect(press("ArrowLeft", { altKey: true, shiftKey: true })).toBe("align-left");
    expect(press("q")).toBeNull();
    expect(keysOf("undo")).toBe("Ctrl+Z");
  });
});

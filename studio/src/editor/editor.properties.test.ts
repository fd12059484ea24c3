/** Property-based tests: any sequence of commands can be undone and redone, and keeps a valid document. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { catalogue } from "../model/catalogue.fixture";
import { type Definition, placesOf } from "../model/document";
import { machine, order } from "../model/documents.fixture";
import { type Focus, levelOf, ROOT } from "../model/focus";
import type { Command } from "./command";
import * as commands from "./commands";
import { shapeErrors } from "./documentShape.fixture";
import { EditorSession } from "./session";

const open = (document: Definition = order, focus: Focus = ROOT): EditorSession =>
  new EditorSession(document, catalogue, { focus });

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

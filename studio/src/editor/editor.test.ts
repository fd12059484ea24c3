import { describe, expect, it } from "vitest";
import { catalogue } from "../model/catalogue.fixture";
import { copyOf, readClip, writeClip } from "../model/clipboard";
import { type Definition, findActivity } from "../model/document";
import { machine, order } from "../model/documents.fixture";
import { type Focus, levelOf, ROOT } from "../model/focus";
import { withIds } from "../model/ids";
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

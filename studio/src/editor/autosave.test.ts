import { beforeEach, describe, expect, it } from "vitest";
import type { Definition } from "../model/document";
import { order } from "../model/documents.fixture";
import { AutoSaver, type Failure } from "./autosave";

class SaveError extends Error {
  constructor(readonly failure: Failure) {
    super(failure);
  }
}

/** A server whose responses the test triggers, and a clock that the test advances. */
class SaverHarness {
  calls: {
    document: Definition;
    etag: string | null;
    answer: (etag: string) => void;
    fail: (failure: Failure) => void;
  }[] = [];
  timers: { at: number; run: () => void }[] = [];
  now = 0;
  stored: Definition | null = null;
  storedEtag: string | null = null;
  saver = new AutoSaver(
    {
      save: (document, etag) =>
        new Promise((answer, reject) =>
          this.calls.push({ document, etag, answer, fail: (failure) => reject(new SaveError(failure)) }),
        ),
      classifyFailure: (error) => (error as SaveError).failure,
      schedule: (milliseconds, run) => {
        const timer = { at: this.now + milliseconds, run };
        this.timers.push(timer);
        return () => {
          this.timers = this.timers.filter((item) => item !== timer);
        };
      },
      drafts: {
        put: (document, etag) => {
          this.stored = document;
          this.storedEtag = etag;
        },
        drop: () => {
          this.stored = null;
        },
      },
    },
    "v1",
    order,
  );

  async pass(milliseconds: number): Promise<void> {
    this.now += milliseconds;
    const due = this.timers.filter((timer) => timer.at <= this.now);
    this.timers = this.timers.filter((timer) => timer.at > this.now);
    for (const timer of due) timer.run();
    await this.settle();
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  }
}

const version = (name: string): Definition => ({ ...order, name });

describe("autosave", () => {
  let harness: SaverHarness;
  beforeEach(() => {
    harness = new SaverHarness();
  });

  it("stores edits made during a save with their base version", async () => {
    harness.saver.change(version("a"));
    await harness.pass(1_000);
    harness.saver.change(version("b"));
    expect([harness.stored?.name, harness.storedEtag]).toEqual(["b", "v1"]);
    harness.calls[0]!.answer("v2");
    await harness.settle();
    expect([harness.stored?.name, harness.storedEtag]).toEqual(["b", "v2"]);
  });

  it("saves a restored draft against its own base version", async () => {
    harness.saver.rebase("v0");
    harness.saver.change(version("stored"));
    await harness.pass(1_000);
    expect(harness.calls.map((call) => call.etag)).toEqual(["v0"]);
    harness.calls[0]!.fail("conflict");
    await harness.settle();
    expect(harness.saver.state.kind).toBe("conflict");
  });

  it("does nothing for an unchanged document", async () => {
    harness.saver.change(order);
    await harness.pass(10_000);
    expect(harness.calls).toEqual([]);
  });

  it("debounces, then saves the newest document", async () => {
    harness.saver.change(version("a"));
    await harness.pass(500);
    harness.saver.change(version("b"));
    await harness.pass(500);
    expect(harness.calls.length).toBe(0);
    await harness.pass(500);
    expect(harness.calls.map((call) => call.document.name)).toEqual(["b"]);
    expect(harness.saver.state.kind).toBe("saving");
    harness.calls[0]!.answer("v2");
    await harness.settle();
    expect([harness.saver.state.kind, harness.saver.version, harness.stored]).toEqual(["saved", "v2", null]);
  });

  it("sends one request at a time, each based on the previous version", async () => {
    harness.saver.change(version("a"));
    await harness.pass(1_000);
    harness.saver.change(version("b"));
    await harness.pass(1_000);
    expect(harness.calls.length).toBe(1);
    harness.calls[0]!.answer("v2");
    await harness.settle();
    expect(harness.calls.map((call) => [call.document.name, call.etag])).toEqual([
      ["a", "v1"],
      ["b", "v2"],
    ]);
    harness.calls[1]!.answer("v3");
    await harness.settle();
    expect(harness.saver.isClean).toBe(true);
  });

  it("does not overwrite on conflict and waits for the author", async () => {
    const mine = version("mine");
    harness.saver.change(mine);
    await harness.pass(1_000);
    harness.calls[0]!.fail("conflict");
    await harness.settle();
    harness.saver.change(version("more"));
    await harness.pass(60_000);
    expect([harness.saver.state.kind, harness.calls.length, harness.stored?.name]).toEqual(["conflict", 1, "more"]);
    void harness.saver.overwrite("v9");
    await harness.settle();
    expect(harness.calls[1]).toMatchObject({ etag: "v9", document: { name: "more" } });
  });

  it("accepts the document of the other user", async () => {
    harness.saver.change(version("mine"));
    await harness.pass(1_000);
    harness.calls[0]!.fail("conflict");
    await harness.settle();
    harness.saver.take(version("theirs"), "v9");
    expect([harness.saver.state.kind, harness.saver.isClean, harness.stored]).toEqual(["saved", true, null]);
  });

  it("keeps edits across a sign-in", async () => {
    harness.saver.change(version("a"));
    await harness.pass(1_000);
    harness.calls[0]!.fail("signed-out");
    await harness.settle();
    harness.saver.change(version("b"));
    await harness.pass(60_000);
    expect([harness.calls.length, harness.stored?.name]).toEqual([1, "b"]);
    void harness.saver.resume();
    await harness.settle();
    expect(harness.calls[1]!.document.name).toBe("b");
  });

  it("retries with back-off when the server cannot be reached", async () => {
    harness.saver.change(version("a"));
    await harness.pass(1_000);
    harness.calls[0]!.fail("offline");
    await harness.settle();
    expect(harness.saver.state).toMatchObject({ kind: "waiting", attempt: 1 });
    await harness.pass(1_000);
    harness.calls[1]!.fail("offline");
    await harness.settle();
    await harness.pass(1_000);
    expect(harness.calls.length).toBe(2);
    await harness.pass(1_000);
    harness.calls[2]!.answer("v2");
    await harness.settle();
    expect(harness.saver.state.kind).toBe("saved");
  });

  it("flush saves at once and reports whether everything is saved", async () => {
    harness.saver.change(version("a"));
    const done = harness.saver.flush();
    await harness.settle();
    harness.calls[0]!.answer("v2");
    expect(await done).toBe(true);
    expect(await harness.saver.flush()).toBe(true);
  });
});

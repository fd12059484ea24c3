import { beforeEach, describe, expect, it } from "vitest";
import type { Definition } from "../model/document";
import { order } from "../model/documents.fixture";
import { type Failure, Saver } from "./autosave";

class Oops extends Error {
  constructor(readonly failure: Failure) {
    super(failure);
  }
}

/** A server that answers when the test says so, and a clock that the test turns. */
class Bench {
  calls: {
    document: Definition;
    etag: string | null;
    answer: (etag: string) => void;
    fail: (failure: Failure) => void;
  }[] = [];
  timers: { at: number; run: () => void }[] = [];
  now = 0;
  kept: Definition | null = null;
  keptOn: string | null = null;
  saver = new Saver(
    {
      save: (document, etag) =>
        new Promise((answer, reject) =>
          this.calls.push({ document, etag, answer, fail: (failure) => reject(new Oops(failure)) }),
        ),
      judge: (error) => (error as Oops).failure,
      after: (milliseconds, run) => {
        const timer = { at: this.now + milliseconds, run };
        this.timers.push(timer);
        return () => void (this.timers = this.timers.filter((item) => item !== timer));
      },
      keep: {
        put: (document, etag) => void ([this.kept, this.keptOn] = [document, etag]),
        drop: () => void (this.kept = null),
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

describe("saving", () => {
  let bench: Bench;
  beforeEach(() => void (bench = new Bench()));

  it("keeps with what was drawn during a save the version that it builds on", async () => {
    bench.saver.change(version("a"));
    await bench.pass(1_000);
    bench.saver.change(version("b"));
    expect([bench.kept?.name, bench.keptOn]).toEqual(["b", "v1"]);
    bench.calls[0]!.answer("v2");
    await bench.settle();
    expect([bench.kept?.name, bench.keptOn]).toEqual(["b", "v2"]);
  });

  it("goes on from the version that kept changes build on, not from what is there now", async () => {
    bench.saver.goOnFrom("v0");
    bench.saver.change(version("kept"));
    await bench.pass(1_000);
    expect(bench.calls.map((call) => call.etag)).toEqual(["v0"]);
    bench.calls[0]!.fail("conflict");
    await bench.settle();
    expect(bench.saver.state.kind).toBe("conflict");
  });

  it("does nothing for a document that nobody changed", async () => {
    bench.saver.change(order);
    await bench.pass(10_000);
    expect(bench.calls).toEqual([]);
  });

  it("waits for a pause, then saves the newest", async () => {
    bench.saver.change(version("a"));
    await bench.pass(500);
    bench.saver.change(version("b"));
    await bench.pass(500);
    expect(bench.calls.length).toBe(0);
    await bench.pass(500);
    expect(bench.calls.map((call) => call.document.name)).toEqual(["b"]);
    expect(bench.saver.state.kind).toBe("saving");
    bench.calls[0]!.answer("v2");
    await bench.settle();
    expect([bench.saver.state.kind, bench.saver.version, bench.kept]).toEqual(["saved", "v2", null]);
  });

  it("never has two calls under way, and builds each on the one before", async () => {
    bench.saver.change(version("a"));
    await bench.pass(1_000);
    bench.saver.change(version("b"));
    await bench.pass(1_000);
    expect(bench.calls.length).toBe(1);
    bench.calls[0]!.answer("v2");
    await bench.settle();
    expect(bench.calls.map((call) => [call.document.name, call.etag])).toEqual([
      ["a", "v1"],
      ["b", "v2"],
    ]);
    bench.calls[1]!.answer("v3");
    await bench.settle();
    expect(bench.saver.isClean).toBe(true);
  });

  it("overwrites nobody: a conflict waits for the author", async () => {
    const mine = version("mine");
    bench.saver.change(mine);
    await bench.pass(1_000);
    bench.calls[0]!.fail("conflict");
    await bench.settle();
    bench.saver.change(version("more"));
    await bench.pass(60_000);
    expect([bench.saver.state.kind, bench.calls.length, bench.kept?.name]).toEqual(["conflict", 1, "more"]);
    void bench.saver.overwrite("v9");
    await bench.settle();
    expect(bench.calls[1]).toMatchObject({ etag: "v9", document: { name: "more" } });
  });

  it("can take the other one's document", async () => {
    bench.saver.change(version("mine"));
    await bench.pass(1_000);
    bench.calls[0]!.fail("conflict");
    await bench.settle();
    bench.saver.take(version("theirs"), "v9");
    expect([bench.saver.state.kind, bench.saver.isClean, bench.kept]).toEqual(["saved", true, null]);
  });

  it("keeps edits across a sign-in", async () => {
    bench.saver.change(version("a"));
    await bench.pass(1_000);
    bench.calls[0]!.fail("signed-out");
    await bench.settle();
    bench.saver.change(version("b"));
    await bench.pass(60_000);
    expect([bench.calls.length, bench.kept?.name]).toEqual([1, "b"]);
    void bench.saver.resume();
    await bench.settle();
    expect(bench.calls[1]!.document.name).toBe("b");
  });

  it("tries again when the server does not answer, later each time", async () => {
    bench.saver.change(version("a"));
    await bench.pass(1_000);
    bench.calls[0]!.fail("offline");
    await bench.settle();
    expect(bench.saver.state).toMatchObject({ kind: "waiting", attempt: 1 });
    await bench.pass(1_000);
    bench.calls[1]!.fail("offline");
    await bench.settle();
    await bench.pass(1_000);
    expect(bench.calls.length).toBe(2);
    await bench.pass(1_000);
    bench.calls[2]!.answer("v2");
    await bench.settle();
    expect(bench.saver.state.kind).toBe("saved");
  });

  it("saves at once when asked, and answers whether all is saved", async () => {
    bench.saver.change(version("a"));
    const done = bench.saver.flush();
    await bench.settle();
    bench.calls[0]!.answer("v2");
    expect(await done).toBe(true);
    expect(await bench.saver.flush()).toBe(true);
  });
});

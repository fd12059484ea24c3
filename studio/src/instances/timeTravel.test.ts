import { expect, test } from "vitest";
import type { JournalEntry } from "../api/types";
import { momentAt, variableChanges } from "./timeTravel";

const entry = (sequence: number, event: string, activity_id: string | null, data: unknown = null): JournalEntry => ({
  sequence,
  version: 1,
  at: "2026-01-01T00:00:00Z",
  event,
  activity_id,
  execution_id: sequence,
  attempt: null,
  name: null,
  type: null,
  why: null,
  data,
});

const document = {
  variables: [{ name: "total", default: 0 }, { name: "answer" }],
  root: {
    id: "all",
    type: "Sequence",
    activities: [
      { id: "set", type: "SetVariable", inputs: { variable: "total", value: { $python: "amount * 2" } } },
      { id: "wait", type: "Event", outputs: { result: "answer" } },
      { id: "if", type: "If" },
    ],
  },
};

const journal = [
  entry(0, "instance_started", null),
  entry(1, "started", "all"),
  entry(2, "completed", "set", 14),
  entry(3, "suspended", "wait", { bookmark: "b1" }),
  entry(4, "resumed", "wait"),
  entry(5, "completed", "wait", { yes: true }),
  entry(6, "decided", "if", { answer: true, saw: { total: 14, amount: 7 } }),
  entry(7, "completed", "if"),
];

test("starts without marks and with default values", () => {
  expect(momentAt(document, journal, 0)).toEqual({ entry: null, statuses: {}, variables: { total: 0 }, here: null });
});

test("reconstructs statuses and variables at each entry", () => {
  const waiting = momentAt(document, journal, 4);
  expect(waiting.statuses.wait).toEqual({ status: "waiting", count: 0 });
  expect(waiting.statuses.set).toEqual({ status: "completed", count: 1, hint: "→ 14" });
  expect(waiting.variables).toEqual({ total: 14 });
  const later = momentAt(document, journal, 6);
  expect(later.variables.answer).toEqual({ yes: true });
  expect(later.here).toBe("wait");
});

test("reports only actual changes", () => {
  expect(variableChanges(document, journal).map((one) => [one.name, one.sequence])).toEqual([
    ["total", 2],
    ["answer", 5],
  ]);
});

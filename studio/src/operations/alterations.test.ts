import { expect, test } from "vitest";
import { alterationName, newDraft, outcomeTone, toRequest } from "./alterations";
import { groupByCause } from "./attention";
import { sorted } from "./ListPage";
import { roundUp } from "./ThroughputChart";

test("converts only complete drafts into requests", () => {
  expect(toRequest(newDraft())).toBeNull();
  expect(toRequest({ ...newDraft(), variable: "total", value: "{" })).toBeNull();
  expect(toRequest({ ...newDraft(), variable: "total", value: "7" })).toEqual({
    type: "modify_variable",
    variable: "total",
    value: 7,
  });
  expect(toRequest({ ...newDraft(), type: "migrate", version: "x" })).toBeNull();
  expect(toRequest({ ...newDraft(), type: "migrate", version: "3" })).toEqual({ type: "migrate", version: 3 });
});

test("names alterations, including unknown types", () => {
  expect([alterationName("migrate"), alterationName("cancel"), alterationName("turn_over")]).toEqual([
    "Migrate to another version",
    "cancel",
    "turn over",
  ]);
  expect([outcomeTone("applies"), outcomeTone("refused"), outcomeTone("needs_mapping")]).toEqual(["ok", "bad", "wait"]);
});

test("sorts numbers and text in both directions", () => {
  const rows = [{ n: 10 }, { n: 9 }, { n: null }];
  expect(sorted(rows, "n").map((row) => row.n)).toEqual([null, 9, 10]);
  expect(sorted(rows, "-n").map((row) => row.n)).toEqual([10, 9, null]);
});

test("groups items by cause and keeps the newest", () => {
  const one = (message: string, instance_id: string) => ({
    kind: "incident" as const,
    message,
    instance_id,
    definition_id: null,
    at: null,
  });
  const found = groupByCause([one("by zero", "c"), one("no ink", "b"), one("by zero", "a")]);
  expect(found.map(({ one: { instance_id: id }, count }) => [id, count])).toEqual([
    ["c", 2],
    ["b", 1],
  ]);
});

test("rounds up the top of the chart", () => {
  expect([1, 3, 7, 42, 101].map(roundUp)).toEqual([1, 5, 10, 50, 200]);
});

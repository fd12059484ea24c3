import { expect, test } from "vitest";
import { newDraft, written } from "./alterations";
import { niceTop } from "./Chart";
import { sorted } from "./ListPage";

test("a draft becomes a request only when it is whole", () => {
  expect(written(newDraft())).toBeNull();
  expect(written({ ...newDraft(), variable: "total", value: "{" })).toBeNull();
  expect(written({ ...newDraft(), variable: "total", value: "7" })).toEqual({ type: "modify_variable", variable: "total", value: 7 });
  expect(written({ ...newDraft(), type: "migrate", version: "x" })).toBeNull();
  expect(written({ ...newDraft(), type: "migrate", version: "3" })).toEqual({ type: "migrate", version: 3 });
});

test("rows sort by number and by text, both ways", () => {
  const rows = [{ n: 10 }, { n: 9 }, { n: null }];
  expect(sorted(rows, "n").map((row) => row.n)).toEqual([null, 9, 10]);
  expect(sorted(rows, "-n").map((row) => row.n)).toEqual([10, 9, null]);
});

test("the top of a chart is a round number", () => {
  expect([1, 3, 7, 42, 101].map(niceTop)).toEqual([1, 5, 10, 50, 200]);
});

import { expect, test } from "vitest";
import { boundsOf, timesOf } from "./period";

const now = new Date(2026, 10, 16, 18, 30);
const local = (...parts: [number, number, number, number?, number?]): string =>
  new Date(...(parts as [number, number, number])).toISOString();

test("computes spans from now and days from local midnight", () => {
  expect(boundsOf({ span: "hour" }, now)).toEqual({ after: new Date(now.getTime() - 3_600_000).toISOString() });
  expect(boundsOf({ span: "today" }, now)).toEqual({ after: local(2026, 10, 16) });
  expect(boundsOf({ span: "yesterday" }, now)).toEqual({ after: local(2026, 10, 15), before: local(2026, 10, 16) });
  expect(boundsOf({ span: "yesterday" }, new Date(2026, 0, 1, 2))).toEqual({
    after: local(2025, 11, 31),
    before: local(2026, 0, 1),
  });
  expect(boundsOf({}, now)).toEqual({});
});

test("accepts a custom period with one open end", () => {
  expect(boundsOf({ span: "between", from: "2026-11-01T08:15" }, now)).toEqual({
    after: new Date(2026, 10, 1, 8, 15).toISOString(),
  });
  expect(boundsOf({ span: "between", to: "2026-11-02T00:00" }, now)).toEqual({ before: local(2026, 10, 2) });
  expect(boundsOf({ span: "between", from: "soon" }, now)).toEqual({});
});

test("uses the selected time field", () => {
  expect(timesOf("finished", { after: "a" })).toEqual({ finished_after: "a", finished_before: undefined });
  expect(timesOf("whatever", { before: "b" })).toEqual({ created_after: undefined, created_before: "b" });
});

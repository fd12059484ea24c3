import { describe, expect, it } from "vitest";
import { changedIn } from "./IncidentsPanel";

describe("the inputs of a retry", () => {
  it("are those that were changed", () => {
    const before = { url: "http://a/", authorization: "••••••", retries: 0, headers: { a: 1 } };
    expect(changedIn(before, { ...before, url: "http://b/" })).toEqual({ url: "http://b/" });
    expect(changedIn(before, { ...before, headers: { a: 2 }, more: true })).toEqual({ headers: { a: 2 }, more: true });
    expect(changedIn(before, { ...before })).toEqual({});
  });

  it("are an object", () => {
    expect(changedIn({ url: "x" }, ["x"])).toEqual({});
    expect(changedIn({ url: "x" }, null)).toEqual({});
  });
});

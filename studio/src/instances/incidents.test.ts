import { describe, expect, it } from "vitest";
import { changedInputs, reevaluate } from "./IncidentDialog";
import { byUrgency } from "./IncidentsPanel";

describe("incidents", () => {
  it("lists open incidents first, newest first", () => {
    const at = (hour: number, open: boolean) => ({ at: `2026-01-01T0${hour}:00:00Z`, open });
    expect(byUrgency([at(1, false), at(2, true), at(3, false), at(4, true)]).map((one) => one.at[12])).toEqual([
      "4",
      "2",
      "3",
      "1",
    ]);
  });
});

describe("inputs of a retry", () => {
  it("are evaluated from the definition, except secrets and failures", async () => {
    const defined = {
      url: "http://b/",
      path: { $python: "'orders/' + id" },
      bad: { $python: "nobody" },
      token: { $variable: "token" },
    };
    const before = { url: "http://a/", path: "orders/", bad: "old", token: "••••••", retries: 0 };
    const evaluated: unknown[] = [];
    const made = await reevaluate(defined, before, async (language, expression) => {
      evaluated.push([language, expression]);
      return expression === "nobody" ? { error: "not known" } : { value: "orders/7" };
    });
    expect(made).toEqual({
      inputs: { url: "http://b/", path: "orders/7", bad: "old", token: "••••••", retries: 0 },
      problems: ["bad: not known"],
    });
    expect(evaluated).toEqual([
      ["python", "'orders/' + id"],
      ["python", "nobody"],
    ]);
    expect(changedInputs(before, made.inputs)).toEqual({ url: "http://b/", path: "orders/7" });
  });

  it("contain only changed values", () => {
    const before = { url: "http://a/", authorization: "••••••", retries: 0, headers: { a: 1 } };
    expect(changedInputs(before, { ...before, url: "http://b/" })).toEqual({ url: "http://b/" });
    expect(changedInputs(before, { ...before, headers: { a: 2 }, more: true })).toEqual({
      headers: { a: 2 },
      more: true,
    });
    expect(changedInputs(before, { ...before })).toEqual({});
  });

  it("must be an object", () => {
    expect(changedInputs({ url: "x" }, ["x"])).toEqual({});
    expect(changedInputs({ url: "x" }, null)).toEqual({});
  });
});

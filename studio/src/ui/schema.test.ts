import { expect, test } from "vitest";
import { InvalidJson, kindOf, label, problems, readJson, type Schema, startOf } from "./schema";

const order: Schema = {
  type: "object",
  required: ["amount"],
  properties: {
    amount: { type: "integer", minimum: 1 },
    note: { type: ["string", "null"], maxLength: 5 },
    urgent: { type: "boolean", default: true },
    address: { type: "object", required: ["town"], properties: { town: { type: "string" } } },
  },
};

test("each schema has a kind of field", () => {
  expect(kindOf({ type: "string", format: "date-time" })).toBe("datetime");
  expect(kindOf({ anyOf: [{ type: "integer" }, { type: "null" }] })).toBe("integer");
  expect(kindOf({ enum: ["a", "b"] })).toBe("choice");
  expect(kindOf({ type: "array" })).toBe("json");
  expect(kindOf({})).toBe("json");
});

test("problems name their field", () => {
  expect(problems(order, {}, true)).toEqual({ amount: "Required." });
  expect(Object.keys(problems(order, { amount: 0.5, note: "too long", address: {} }, true))).toEqual([
    "amount",
    "note",
    "address.town",
  ]);
  expect(problems(order, { amount: 3 }, true)).toEqual({});
});

test("half-typed JSON is kept and refused", () => {
  const half = readJson('{"a":');
  expect(half).toBeInstanceOf(InvalidJson);
  expect(problems({}, half, false)).not.toEqual({});
  expect(readJson(" ")).toBeUndefined();
});

test("a form starts with the defaults", () => {
  expect(startOf(order)).toEqual({ urgent: true, address: {} });
  expect(startOf({ required: ["ok"], properties: { ok: { type: "boolean" } } })).toEqual({ ok: false });
  expect(label("order_total", {})).toBe("Order total");
});

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

test("derives the kind of field from the schema", () => {
  expect(kindOf({ type: "string", format: "date-time" })).toBe("datetime");
  expect(kindOf({ anyOf: [{ type: "integer" }, { type: "null" }] })).toBe("integer");
  expect(kindOf({ enum: ["a", "b"] })).toBe("choice");
  expect(kindOf({ type: "array" })).toBe("json");
  expect(kindOf({})).toBe("json");
});

test("reports problems by field", () => {
  expect(problems(order, {}, true)).toEqual({ amount: "Required." });
  expect(Object.keys(problems(order, { amount: 0.5, note: "too long", address: {} }, true))).toEqual([
    "amount",
    "note",
    "address.town",
  ]);
  expect(problems(order, { amount: 3 }, true)).toEqual({});
});

test("keeps and rejects incomplete JSON", () => {
  const half = readJson('{"a":');
  expect(half).toBeInstanceOf(InvalidJson);
  expect(problems({}, half, false)).not.toEqual({});
  expect(readJson(" ")).toBeUndefined();
});

test("starts with the default values", () => {
  expect(startOf(order)).toEqual({ urgent: true, address: {} });
  expect(startOf({ required: ["ok"], properties: { ok: { type: "boolean" } } })).toEqual({ ok: false });
  expect(label("order_total", {})).toBe("Order total");
});

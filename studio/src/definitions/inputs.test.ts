import { expect, test } from "vitest";
import { inputSchema, startsOf } from "./inputs";
import { idOf } from "./verbs";

const order = {
  inputs: [
    { name: "amount", type: "integer", required: true },
    { name: "note", type: "string", default: "none", display_name: "Remark" },
    { name: "lines", type: "Order" },
  ],
  root: { type: "Flowchart", activities: [{ id: "placed", type: "WriteLine" }] },
};

test("declared inputs become a form", () => {
  expect(inputSchema(order)).toEqual({
    type: "object",
    required: ["amount"],
    properties: { amount: { type: "integer" }, note: { type: "string", title: "Remark", default: "none" }, lines: {} },
  });
});

test("a flowchart can start at any of its activities, a sequence only at its first", () => {
  expect(startsOf(order)).toEqual([{ id: "placed", label: "placed (WriteLine)" }]);
  expect(startsOf({ root: { type: "Sequence", activities: [] } })).toEqual([]);
});

test("an id is made of the name", () => {
  expect(idOf("  Prüfung & Rest! ")).toBe("prufung-rest");
  expect(idOf("Order 7")).toBe("order-7");
});

import { expect, test } from "vitest";
import { slugOf } from "./actions";
import { inputSchema, startsOf } from "./inputs";

const order = {
  inputs: [
    { name: "amount", type: "integer", required: true },
    { name: "note", type: "string", default: "none", display_name: "Remark" },
    { name: "lines", type: "Order" },
  ],
  root: { type: "Flowchart", activities: [{ id: "placed", type: "WriteLine" }] },
};

test("converts declared inputs into a form schema", () => {
  expect(inputSchema(order)).toEqual({
    type: "object",
    required: ["amount"],
    properties: { amount: { type: "integer" }, note: { type: "string", title: "Remark", default: "none" }, lines: {} },
  });
});

test("offers start activities of a flowchart, but not of a sequence", () => {
  const titled = (type: string) => (type === "WriteLine" ? "Write line" : undefined);
  expect(startsOf(order, titled)).toEqual([{ id: "placed", label: "Write line (placed)" }]);
  const named = {
    root: {
      type: "Flowchart",
      activities: [
        { id: "a", type: "Mine", name: "Ask" },
        { id: "b", type: "Mine" },
      ],
    },
  };
  expect(startsOf(named, titled).map((one) => one.label)).toEqual(["Ask (a)", "Mine (b)"]);
  expect(startsOf({ root: { type: "Sequence", activities: [] } }, titled)).toEqual([]);
});

test("derives an id from the name", () => {
  expect(slugOf("  Prüfung & Rest! ")).toBe("prufung-rest");
  expect(slugOf("Order 7")).toBe("order-7");
});

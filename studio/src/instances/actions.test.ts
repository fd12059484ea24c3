import { expect, it } from "vitest";
import { countOf, filterOf } from "./actions";

it("builds the bulk filter from the filters of the list", () => {
  const filters = {
    search: "",
    definition_id: "order",
    correlation_id: undefined,
    parent_id: undefined,
    has_incidents: true,
    created_after: undefined,
  };
  expect(filterOf(filters, ["suspended"])).toEqual({
    definition_id: ["order"],
    has_incidents: true,
    status: ["suspended"],
  });
  expect(filterOf({ search: "" }, [])).toEqual({});
  expect([countOf({ ids: ["a", "b"] }), countOf({ filter: {}, count: 1004 })]).toEqual([2, 1004]);
});

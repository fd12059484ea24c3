import { expect, test } from "vitest";
import { startedBy } from "./children";

test("finds the children of an execution by id", () => {
  const children = [{ id: "I-4" }, { id: "I-41" }, { id: "I-4-2" }, { id: "I-5" }];
  expect(startedBy("I", { execution_id: 4 }, children)).toEqual([{ id: "I-4" }, { id: "I-4-2" }]);
});

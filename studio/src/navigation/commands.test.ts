import { expect, test } from "vitest";
import { rank } from "./commands";

test("letters must come in order", () => {
  expect(rank("Dead letters", "dl")).not.toBeNull();
  expect(rank("Dead letters", "ld")).toBeNull();
});

test("a run of letters is better than scattered ones", () => {
  expect(rank("Instances", "inst") ?? 0).toBeGreaterThan(rank("Is not so tiny", "inst") ?? 0);
});

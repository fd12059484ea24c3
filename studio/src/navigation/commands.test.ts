import { expect, test } from "vitest";
import { rank } from "./commands";

test("requires the letters in order", () => {
  expect(rank("Dead letters", "dl")).not.toBeNull();
  expect(rank("Dead letters", "ld")).toBeNull();
});

test("prefers consecutive letters", () => {
  expect(rank("Instances", "inst") ?? 0).toBeGreaterThan(rank("Is not so tiny", "inst") ?? 0);
});

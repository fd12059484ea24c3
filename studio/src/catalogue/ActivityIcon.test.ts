import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { iconPath } from "./ActivityIcon";

const LIBRARY = join(import.meta.dirname, "../../../src/holdfast/activities");

function* sources(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) yield* sources(join(folder, entry.name));
    else if (entry.name.endsWith(".py")) yield readFileSync(join(folder, entry.name), "utf8");
  }
}

it("has every icon used by the built-in activities", () => {
  const names = new Set(
    [...sources(LIBRARY)].flatMap((text) => [...text.matchAll(/icon="([a-z-]+)"/g)].map((found) => found[1] ?? "")),
  );
  expect(names.size).toBeGreaterThan(30);
  expect([...names].filter((name) => name !== "box" && iconPath(name) === iconPath("box"))).toEqual([]);
});

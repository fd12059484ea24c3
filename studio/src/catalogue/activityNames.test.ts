import { expect, test } from "vitest";
import { Catalogue } from "../model/descriptors";
import { withIds } from "../model/ids";
import { activityNamesIn } from "./activityNames";

const catalogue = new Catalogue([
  { type: "WriteLine", display_name: "Write line", inputs: [], outputs: [], ports: [], outcomes: ["Done"] },
]);
const line = (id: string, name?: string) => ({ id, type: "WriteLine", inputs: {}, ...(name ? { name } : {}) });
const names = (...activities: object[]) =>
  activityNamesIn(withIds({ id: "x", root: { id: "steps", type: "Sequence", activities } } as never), catalogue);

test("uses the title of the type for an activity without a name", () => {
  const { of, mark } = names(line("greet", "Greet"), line("w1"));
  expect([of("greet"), of("w1"), of({ activity_id: "w1", name: null })]).toEqual(["Greet", "Write line", "Write line"]);
  expect([mark("greet"), mark("w1")]).toEqual(["", ""]);
});

test("disambiguates equal names by id", () => {
  const { mark } = names(line("w1"), line("w2"), line("w3", "Other"));
  expect([mark("w1"), mark("w2"), mark("w3"), mark(null)]).toEqual(["w1", "w2", "", ""]);
});

test("uses the given name or type for an activity outside the document", () => {
  const { of } = names();
  expect(of({ activity_id: "inner/w", name: null, type: "WriteLine" })).toBe("Write line");
  expect(of({ activity_id: "inner/w", name: "Say it", type: "WriteLine" })).toBe("Say it");
  expect(of({ activity_id: "gone", type: "Unknown" })).toBe("gone");
  expect(of(null)).toBe("");
});

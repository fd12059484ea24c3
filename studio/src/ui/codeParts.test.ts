import { expect, test } from "vitest";
import { codeParts } from "./codeParts";

test.each([
  ["Plain.", ["Plain."]],
  ["Such as `Europe/Berlin`.", ["Such as ", "Europe/Berlin", "."]],
  ["`fire_once`, `skip`", ["", "fire_once", ", ", "skip", ""]],
  ["An open ` stays", ["An open ` stays"]],
  ["`a` and ` b", ["", "a", " and ` b"]],
])("%s", (text, parts) => {
  expect(codeParts(text)).toEqual(parts);
});

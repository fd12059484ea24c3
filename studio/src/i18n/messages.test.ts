import { expect, test } from "vitest";
import { defineMessages, englishMessages, translate } from "./messages";

const t = defineMessages("test", { hello: "Hello, {name}", count: "{n|thing|things} here" });

test("fills placeholders and selects the plural", () => {
  expect(t("hello", { name: "Ada" })).toBe("Hello, Ada");
  expect(t("count", { n: 1 })).toBe("1 thing here");
  expect(t("count", { n: 0 })).toBe("0 things here");
});

test("falls back to English for missing translations", () => {
  translate({ "test.hello": "Hallo, {name}" });
  expect(t("hello", { name: "Ada" })).toBe("Hallo, Ada");
  expect(t("count", { n: 2 })).toBe("2 things here");
  translate({});
  expect(englishMessages()["test.hello"]).toBe("Hello, {name}");
});

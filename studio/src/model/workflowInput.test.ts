import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "./json";
import type { Name } from "./scope";
import { readWorkflowInput, writeWorkflowInput } from "./workflowInput";

const names: Name[] = [
  { name: "who", kind: "input", type: "string", from: "workflow" },
  { name: "total", kind: "variable", type: "any", from: "workflow" },
];

test("plain values are stored as an object", () => {
  expect(writeWorkflowInput({})).toBeUndefined();
  expect(writeWorkflowInput({ weight: 3, to: "Oslo" })).toEqual({ weight: 3, to: "Oslo" });
  expect(readWorkflowInput({ weight: 3 }, names)).toEqual({ weight: 3 });
  expect(readWorkflowInput(undefined, names)).toEqual({});
  expect(readWorkflowInput({ $python: "" }, names)).toEqual({});
});

test("with an expression, all values are stored as one dict and parsed again", () => {
  const input = {
    weight: { $python: "f(1, {'a': 2})" },
    to: { $input: "who" },
    sum: { $variable: "total" },
    fragile: true,
    note: 'say "hi"',
    list: [1, null],
  };
  const written = writeWorkflowInput(input);
  expect(written).toEqual({
    $python:
      '{"weight": f(1, {\'a\': 2}), "to": who, "sum": total, "fragile": True, "note": "say \\"hi\\"", "list": [1, None]}',
  });
  const { list, ...rest } = input;
  expect(readWorkflowInput(written, names)).toEqual({ ...rest, list: { $python: "[1, None]" } });
  expect(list).toEqual([1, null]);
});

test("reads hand-written dicts", () => {
  expect(readWorkflowInput({ $python: "{ 'weight': 3, 'to': who if who else 'X', }" }, names)).toEqual({
    weight: 3,
    to: { $python: "who if who else 'X'" },
  });
  expect(readWorkflowInput({ $python: "{'a': x[1:2], 'b': lambda_(':')}" }, names)).toEqual({
    a: { $python: "x[1:2]" },
    b: { $python: "lambda_(':')" },
  });
});

test("rejects everything else", () => {
  const others = [
    "order",
    "{k: v for k, v in pairs}",
    "{**order}",
    "{'a': (}",
    "{'a': 'x}",
    "{'a': 1, 'a': 2}",
    "{'a'}",
    "dict(a=1)",
    "{1: 2}",
  ];
  for (const text of others) expect(readWorkflowInput({ $python: text }, names), text).toBeNull();
  expect(readWorkflowInput({ $javascript: "({})" }, names)).toBeNull();
  expect(readWorkflowInput([1], names)).toBeNull();
});

const literal = fc.oneof(fc.string(), fc.integer(), fc.boolean()).filter((value) => value !== "");

test("round-trips", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.oneof(literal, fc.constantFrom({ $python: "who + ','" }, { $input: "who" }))),
      (input) => {
        expect(readWorkflowInput(writeWorkflowInput(input as Record<string, Json>), names)).toEqual(input);
      },
    ),
  );
});

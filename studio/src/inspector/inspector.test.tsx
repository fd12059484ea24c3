import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Json } from "../model/json";
import { studio } from "../plugins/registry";
import { type EditorProps, hintFor, hintOfSchema, isInputVisible, optionsFor, withoutNull } from "./editorHints";
import { LiteralEditor } from "./editors";
import { asValue } from "./editors/compound";
import { InputEditor } from "./InputEditor";

afterEach(cleanup);

const props = (more: Partial<EditorProps> = {}): EditorProps => ({
  id: "x",
  label: "Field",
  value: undefined,
  onChange: () => undefined,
  schema: {},
  options: [],
  placeholder: "",
  names: [],
  readOnly: false,
  invalid: false,
  ...more,
});

const show = (hint: string, more: Partial<EditorProps> = {}) => {
  const changed = vi.fn<(value: Json | undefined) => void>();
  render(
    <QueryClientProvider client={new QueryClient()}>
      <LiteralEditor hint={hint} {...props({ onChange: changed, ...more })} />
    </QueryClientProvider>,
  );
  return changed;
};

describe("editor hints", () => {
  it("resolves hints and their aliases", () => {
    expect(hintFor("X", { name: "a", hint: "multi-line" })).toBe("multiline");
    expect(hintFor("X", { name: "a", hint: "text" })).toBe("text");
    expect(hintFor("X", { name: "a", hint: "colour" })).toBe("colour");
    expect(hintFor("X", { name: "a", secret: true })).toBe("secret");
    expect(hintFor("SetVariable", { name: "variable", hint: "text" })).toBe("variable");
    expect(hintFor("FlowJoin", { name: "mode", hint: "text" })).toBe("options");
  });

  it("falls back to the schema without a hint", () => {
    expect(hintOfSchema({ type: "string", format: "duration" })).toBe("duration");
    expect(hintOfSchema({ anyOf: [{ type: "integer" }, { type: "null" }] })).toBe("number");
    expect(hintOfSchema({ type: "object", properties: {} })).toBe("schema");
    expect(hintOfSchema({})).toBe("any");
    expect(withoutNull({ anyOf: [{ type: "string" }, { type: "integer" }] })).toEqual({
      anyOf: [{ type: "string" }, { type: "integer" }],
    });
  });

  it("shows a dependent input only while its condition holds", () => {
    const input = { name: "body", shown_when: { method: ["POST", "PUT"] } };
    expect(isInputVisible(input, { method: "POST" }, [])).toBe(true);
    expect(isInputVisible(input, { method: "GET" }, [])).toBe(false);
    expect(isInputVisible(input, {}, [{ name: "method", default: "PUT" }])).toBe(true);
    expect(isInputVisible(input, { method: { $python: "verb" } }, [])).toBe(true);
    expect(isInputVisible(input, { method: "GET", body: "kept" }, [])).toBe(true);
    expect(optionsFor("X", { name: "a", schema: { enum: [1, 2] } })).toEqual([1, 2]);
  });
});

describe("editors", () => {
  it("writes numbers as numbers, within limits", () => {
    const changed = show("number", { schema: { type: "integer", minimum: 1, maximum: 5 } });
    const box = screen.getByRole("spinbutton");
    expect([box.getAttribute("min"), box.getAttribute("max")]).toEqual(["1", "5"]);
    fireEvent.change(box, { target: { value: "3" } });
    expect(changed).toHaveBeenCalledWith(3);
    fireEvent.change(box, { target: { value: "" } });
  });

  it("writes durations in the format of the server", () => {
    const changed = show("duration", { value: "PT30S" });
    const boxes = screen.getAllByRole("spinbutton");
    fireEvent.change(boxes[0]!, { target: { value: "2" } });
    expect(changed).toHaveBeenCalledWith("P2DT30S");
  });

  it("offers options and keeps an unknown value", () => {
    const changed = show("options", { options: ["wait_any", "wait_all"], value: "other" });
    expect(screen.getAllByRole("option").map((option) => option.textContent)).toEqual([
      "Choose …",
      "other",
      "Wait any",
      "Wait all",
    ]);
    fireEvent.change(screen.getByRole("combobox"), { target: { value: '"wait_all"' } });
    expect(changed).toHaveBeenCalledWith("wait_all");
  });

  it("lists the default option once", () => {
    const names = () => screen.getAllByRole("option").map((option) => option.textContent);
    const offered = { options: ["wait_any", "wait_all"], placeholder: "wait_any" };
    const changed = show("options", offered);
    expect(names()).toEqual(["Wait any", "Wait all"]);
    fireEvent.change(screen.getByRole("combobox"), { target: { value: '"wait_all"' } });
    expect(changed).toHaveBeenCalledWith("wait_all");
    cleanup();
    show("options", { ...offered, value: "wait_any" });
    expect(names()).toEqual(["Wait any", "Wait all"]);
    expect((screen.getByRole("combobox") as HTMLSelectElement).value).toBe('"wait_any"');
  });

  it("edits lists and maps in place", () => {
    const list = show("list", { value: ["a"], schema: { type: "array", items: { type: "string" } } });
    fireEvent.click(screen.getByRole("button", { name: "Add" }));
    expect(list).toHaveBeenCalledWith(["a", ""]);
    cleanup();
    const map = show("map", { value: { a: 1 } });
    fireEvent.change(screen.getByLabelText("Value"), { target: { value: "true" } });
    expect(map).toHaveBeenCalledWith({ a: true });
    expect([asValue("12"), asValue("12 apples"), asValue("[1]"), asValue("no")]).toEqual([12, "12 apples", [1], "no"]);
  });

  it("edits an object by its schema", () => {
    const changed = show("schema", {
      schema: { type: "object", properties: { city: { type: "string", title: "City" } }, required: ["city"] },
    });
    fireEvent.change(screen.getByLabelText("City *"), { target: { value: "Oslo" } });
    expect(changed).toHaveBeenCalledWith({ city: "Oslo" });
  });

  it("falls back to the schema for an unknown hint, and prefers the editor of a plugin", () => {
    show("colour", { schema: { type: "boolean" } });
    expect(screen.getByRole("switch")).toBeDefined();
    cleanup();
    studio.editor("colour", {
      mount(element, { value, onChange }) {
        const button = document.createElement("button");
        button.textContent = `paint ${String(value)}`;
        button.onclick = () => onChange("red");
        element.append(button);
        return undefined;
      },
    });
    const changed = show("colour", { value: "blue" });
    fireEvent.click(screen.getByText("paint blue"));
    expect(changed).toHaveBeenCalledWith("red");
  });
});

describe("an input", () => {
  const input = { name: "text", display_name: "Text", type: "string", schema: { type: "string" }, required: true };
  const view = (value: Json | undefined) => {
    const changed = vi.fn<(value: Json | undefined) => void>();
    render(
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { enabled: false } } })}>
        <InputEditor
          type="X"
          input={input}
          value={value}
          onChange={changed}
          names={[{ name: "total", kind: "variable", type: "integer", from: "workflow" }]}
          problems={[]}
          readOnly={false}
        />
      </QueryClientProvider>,
    );
    return changed;
  };

  it("converts the value when the language changes", () => {
    const changed = view("hello");
    fireEvent.change(screen.getByLabelText("Text: kind of value"), { target: { value: "python" } });
    expect(changed).toHaveBeenCalledWith({ $python: '"hello"' });
  });

  it("offers the variables in scope", () => {
    const changed = view({ $variable: "" });
    fireEvent.change(screen.getByLabelText(/^Text \*?$/), { target: { value: "total" } });
    expect(changed).toHaveBeenCalledWith({ $variable: "total" });
  });

  it("guards data that looks like an expression", () => {
    const changed = view(undefined);
    fireEvent.change(screen.getByLabelText(/^Text \*?$/), { target: { value: "x" } });
    expect(changed).toHaveBeenCalledWith("x");
  });
});

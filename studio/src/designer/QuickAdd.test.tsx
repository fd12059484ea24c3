import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { Picker } from "./QuickAdd";

afterEach(cleanup);

const frames = async (count: number): Promise<void> => {
  for (let left = count; left > 0; left -= 1) await new Promise((done) => requestAnimationFrame(done));
};

const beside = (open: boolean) => (
  <>
    <button type="button">Card</button>
    <input aria-label="Field" />
    {open ? (
      <Picker at={{ x: 0, y: 0 }} label="Pick" find={() => []} onPick={() => undefined} onClose={() => undefined} />
    ) : null}
  </>
);

describe("closed list", () => {
  it("restores the focus", async () => {
    const { rerender } = render(beside(false));
    screen.getByText("Card").focus();
    rerender(beside(true));
    expect(document.activeElement).toBe(screen.getByRole("combobox"));
    rerender(beside(false));
    await frames(2);
    expect(document.activeElement).toBe(screen.getByText("Card"));
  });

  it("keeps the focus of a field clicked meanwhile", async () => {
    const { rerender } = render(beside(false));
    screen.getByText("Card").focus();
    rerender(beside(true));
    rerender(beside(false));
    screen.getByLabelText("Field").focus();
    await frames(2);
    expect(document.activeElement).toBe(screen.getByLabelText("Field"));
  });
});

import { afterEach, expect, it, vi } from "vitest";

afterEach(() => vi.unstubAllGlobals());

it.each([
  [true, 0],
  [false, 120],
])("skips the animation for reduced motion: %s", async (asked, duration) => {
  vi.resetModules();
  vi.stubGlobal("matchMedia", () => ({ matches: asked }));
  const { viewportAnimation } = await import("./animation");
  expect(viewportAnimation()).toEqual({ duration });
});

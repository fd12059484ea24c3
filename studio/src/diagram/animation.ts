/** How the picture goes to another place: viewportAnimation, or at once for those who asked their system for less motion. */

const DURATION_MS = 120;
const reducedMotion = typeof matchMedia === "function" ? matchMedia("(prefers-reduced-motion: reduce)") : null;

export const viewportAnimation = (): { duration: number } => ({
  duration: reducedMotion?.matches === true ? 0 : DURATION_MS,
});

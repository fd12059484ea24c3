/** Options of viewport animations. The duration is zero if the system asks for reduced motion. */

const DURATION_MS = 120;
const reducedMotion = typeof matchMedia === "function" ? matchMedia("(prefers-reduced-motion: reduce)") : null;

export const viewportAnimation = (): { duration: number } => ({
  duration: reducedMotion?.matches === true ? 0 : DURATION_MS,
});

/** How the picture goes to another place: gliding, or at once for those who asked their system for less motion. */

const GLIDE_MS = 120;
const still = typeof matchMedia === "function" ? matchMedia("(prefers-reduced-motion: reduce)") : null;

export const gliding = (): { duration: number } => ({ duration: still?.matches === true ? 0 : GLIDE_MS });

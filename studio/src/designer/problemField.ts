/** Inspector field of a problem. */

import { fromPointer } from "../model/json";

const PARTS = ["inputs", "outputs", "variables"];
const CONTROLS = ":is(input, textarea, select, .cm-content):not(.hf-language)";
const FRAMES = 30;

/** Null for problems of a whole activity or workflow. */
export function fieldOf(path: string): string | null {
  const steps = fromPointer(path);
  const at = steps.findLastIndex((step) => PARTS.includes(step));
  const [part, name] = [steps[at], steps[at + 1]];
  if (part === undefined || name === undefined) return null;
  if (/^\d+$/.test(name)) return `[data-declared="${part}/${name}"]`;
  return part === "outputs" ? `[data-output="${CSS.escape(name)}"]` : `[data-input="${CSS.escape(name)}"]`;
}

/**
 * The inspector renders, and a closing dialog restores the focus, some frames later. The field takes the focus after
 * that.
 */
export function focusField(frame: HTMLElement | null, path: string): void {
  const field = fieldOf(path);
  if (field === null || frame === null) return;
  const look = (left: number): void => {
    const place = frame.querySelector<HTMLElement>(`.hf-inspector ${field}`);
    const control = place?.querySelector<HTMLElement>(CONTROLS);
    if (place === null || control === null || control === undefined) {
      if (left > 0) requestAnimationFrame(() => look(left - 1));
      return;
    }
    const section = place.closest("details");
    if (section) section.open = true;
    control.focus();
    place.scrollIntoView({ block: "nearest" });
  };
  requestAnimationFrame(() => requestAnimationFrame(() => look(FRAMES)));
}

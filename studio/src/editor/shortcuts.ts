/** Keyboard shortcuts of the designer: one table for the keyboard, the menus and the shortcuts dialog. */

export interface Shortcut {
  readonly id: string;
  readonly label: string;
  /** `mod` is ⌘ on a Mac and Ctrl elsewhere. */
  readonly keys: string;
  readonly group: "Edit" | "Canvas" | "Workflow";
}

export const SHORTCUTS = [
  { id: "undo", label: "Undo", keys: "mod+z", group: "Edit" },
  { id: "redo", label: "Redo", keys: "mod+shift+z", group: "Edit" },
  { id: "redo-y", label: "Redo", keys: "mod+y", group: "Edit" },
  { id: "copy", label: "Copy as JSON", keys: "mod+c", group: "Edit" },
  { id: "cut", label: "Cut", keys: "mod+x", group: "Edit" },
  { id: "paste", label: "Paste", keys: "mod+v", group: "Edit" },
  { id: "duplicate", label: "Duplicate", keys: "mod+d", group: "Edit" },
  { id: "remove", label: "Remove", keys: "delete", group: "Edit" },
  { id: "remove-back", label: "Remove", keys: "backspace", group: "Edit" },
  { id: "select-all", label: "Select all", keys: "mod+a", group: "Edit" },
  { id: "clear", label: "Clear selection or go up", keys: "escape", group: "Edit" },
  { id: "rename", label: "Rename", keys: "f2", group: "Edit" },
  { id: "quick-add", label: "Add activity after selection", keys: "a", group: "Canvas" },
  { id: "connect", label: "Connect selection to …", keys: "c", group: "Canvas" },
  { id: "open", label: "Open the selected container", keys: "enter", group: "Canvas" },
  { id: "up", label: "Go up one level", keys: "alt+arrowup", group: "Canvas" },
  { id: "search", label: "Search in workflow", keys: "mod+f", group: "Canvas" },
  { id: "note", label: "Add note", keys: "n", group: "Canvas" },
  { id: "fit", label: "Fit to view", keys: "1", group: "Canvas" },
  { id: "zoom-100", label: "Actual size", keys: "0", group: "Canvas" },
  { id: "layout", label: "Auto layout", keys: "l", group: "Canvas" },
  { id: "layout-all", label: "Reset layout", keys: "shift+l", group: "Canvas" },
  { id: "align-left", label: "Align left", keys: "alt+shift+arrowleft", group: "Canvas" },
  { id: "align-right", label: "Align right", keys: "alt+shift+arrowright", group: "Canvas" },
  { id: "align-top", label: "Align top", keys: "alt+shift+arrowup", group: "Canvas" },
  { id: "align-bottom", label: "Align bottom", keys: "alt+shift+arrowdown", group: "Canvas" },
  { id: "distribute-x", label: "Distribute horizontally", keys: "alt+shift+h", group: "Canvas" },
  { id: "distribute-y", label: "Distribute vertically", keys: "alt+shift+v", group: "Canvas" },
  { id: "save", label: "Save now", keys: "mod+s", group: "Workflow" },
  { id: "publish", label: "Publish", keys: "mod+shift+p", group: "Workflow" },
  { id: "run", label: "Run", keys: "mod+enter", group: "Workflow" },
  { id: "problems", label: "Show problems", keys: "mod+shift+m", group: "Workflow" },
  { id: "help", label: "Keyboard shortcuts", keys: "?", group: "Workflow" },
] as const satisfies readonly Shortcut[];

export type ShortcutId = (typeof SHORTCUTS)[number]["id"];

interface Press {
  readonly key: string;
  readonly code?: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
}

const BY_KEYS: ReadonlyMap<string, ShortcutId> = new Map(SHORTCUTS.map((item) => [item.keys, item.id]));

export function shortcutOf(press: Press): ShortcutId | null {
  return BY_KEYS.get(writePress(press)) ?? null;
}

function writePress(press: Press): string {
  // With Alt, some keyboard layouts produce other characters. The physical key counts then.
  const letter = press.altKey && press.code?.startsWith("Key") ? press.code.slice(3) : press.key;
  const key = letter.toLowerCase();
  const isSign = key.length === 1 && !/[\p{L}\p{N}]/u.test(key);
  return [
    press.ctrlKey || press.metaKey ? "mod" : "",
    press.altKey ? "alt" : "",
    press.shiftKey && !isSign ? "shift" : "",
    key,
  ]
    .filter(Boolean)
    .join("+");
}

const isMac = typeof navigator !== "undefined" && /mac/i.test(navigator.platform);

const KEY_SYMBOLS: ReadonlyMap<string, string> = new Map([
  ["mod", isMac ? "⌘" : "Ctrl"],
  ["shift", isMac ? "⇧" : "Shift"],
  ["alt", isMac ? "⌥" : "Alt"],
  ["arrowup", "↑"],
  ["arrowdown", "↓"],
  ["arrowleft", "←"],
  ["arrowright", "→"],
  ["delete", "Del"],
  ["enter", "Enter"],
  ["escape", "Esc"],
]);

export function formatKeys(keys: string): string {
  return keys
    .split("+")
    .map((key) => KEY_SYMBOLS.get(key) ?? key.toUpperCase())
    .join(isMac ? "" : "+");
}

export function keysOf(id: ShortcutId): string {
  const found = SHORTCUTS.find((item) => item.id === id);
  return found === undefined ? "" : formatKeys(found.keys);
}

/** Actions of the keyboard shortcuts and of the menu entries with the same ids. */

import { type RefObject, useCallback } from "react";
import type { AutoSaver } from "../editor/autosave";
import * as commands from "../editor/commands";
import type { ShortcutId } from "../editor/shortcuts";
import { useEditor, useEditorSession } from "../editor/useEditor";
import { copyOf, writeClip } from "../model/clipboard";
import { type Crumb, defaultPortOf, type Level, levelOf } from "../model/focus";
import { toast } from "../ui";
import type { CanvasHandle } from "./Canvas";
import type { DialogName } from "./DesignerDialogs";
import { useRunCommand } from "./useRunCommand";

export interface ShortcutContext {
  readonly canvas: RefObject<CanvasHandle | null>;
  readonly frame: RefObject<HTMLElement | null>;
  readonly level: Level;
  readonly crumbs: readonly Crumb[];
  readonly saver: AutoSaver;
  readonly openDialog: (name: DialogName) => void;
  readonly toggleProblems: () => void;
}

/** Returns a function that runs the action and reports whether there is one. */
export function useShortcutActions({
  canvas,
  frame,
  level,
  crumbs,
  saver,
  openDialog,
  toggleProblems,
}: ShortcutContext): (id: ShortcutId) => boolean {
  const session = useEditorSession();
  const selection = useEditor((snapshot) => snapshot.selection);
  const catalogue = useEditor((snapshot) => snapshot.catalogue);
  const run = useRunCommand();

  const copy = useCallback(async () => {
    const state = session.get();
    const clip = copyOf(levelOf(state.document, state.catalogue, state.focus), new Set(state.selection));
    if (clip.activities.length > 0) await navigator.clipboard.writeText(writeClip(clip)).catch(toast.failed);
  }, [session]);

  return useCallback(
    (id: ShortcutId): boolean => {
      const table: Partial<Record<ShortcutId, () => void>> = {
        undo: () => session.undo(),
        redo: () => session.redo(),
        "redo-y": () => session.redo(),
        copy: () => void copy(),
        cut: () => void copy().then(() => run(commands.removeSelection())),
        paste: () => void navigator.clipboard.readText().then((text) => canvas.current?.paste(text), toast.failed),
        duplicate: () => run(commands.duplicate()),
        remove: () => run(commands.removeSelection()),
        "remove-back": () => run(commands.removeSelection()),
        "select-all": () =>
          session.select(
            level.kind === "states"
              ? level.states.map((_, index) => `state:${index}`)
              : level.activities.map((activity) => activity.id),
          ),
        clear: () => {
          const parent = crumbs.at(-2);
          if (session.get().selection.length > 0) session.select([]);
          else if (parent !== undefined) session.open(parent.focus);
        },
        rename: () => frame.current?.querySelector<HTMLInputElement>(".hf-inspector .name")?.select(),
        "quick-add": () => canvas.current?.quickAdd(),
        connect: () => (selection.length === 1 ? openDialog("connect") : undefined),
        open: () => {
          const activity = level.activities.find((item) => item.id === selection[0]);
          const port = activity === undefined ? null : defaultPortOf(activity, catalogue);
          if (port !== null) session.open(port);
        },
        up: () => {
          const parent = crumbs.at(-2);
          if (parent !== undefined) session.open(parent.focus);
        },
        search: () => openDialog("search"),
        note: () => canvas.current?.note(),
        fit: () => canvas.current?.fit(),
        "zoom-100": () => canvas.current?.actualSize(),
        layout: () => run(commands.autoLayout()),
        "layout-all": () => run(commands.autoLayout(true)),
        "align-left": () => run(commands.align("left")),
        "align-right": () => run(commands.align("right")),
        "align-top": () => run(commands.align("top")),
        "align-bottom": () => run(commands.align("bottom")),
        "distribute-x": () => run(commands.distribute("x")),
        "distribute-y": () => run(commands.distribute("y")),
        save: () => void saver.flush(),
        publish: () => openDialog("publish"),
        run: () => openDialog("run"),
        problems: () => toggleProblems(),
        help: () => openDialog("shortcuts"),
      };
      const what = table[id];
      what?.();
      return what !== undefined;
    },
    [session, run, copy, level, crumbs, selection, catalogue, saver, canvas, frame, openDialog, toggleProblems],
  );
}

/** Designer: toolbar, library, canvas, inspector and keyboard shortcuts. */

import { Link } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { DefinitionSummary } from "../api/types";
import { GraphView } from "../diagram/GraphView";
import type { AutoSaver } from "../editor/autosave";
import * as commands from "../editor/commands";
import { keysOf, shortcutOf } from "../editor/shortcuts";
import { useEditor, useEditorSession } from "../editor/useEditor";
import { Inspector } from "../inspector/Inspector";
import { Library } from "../library/Library";
import { placesOf } from "../model/document";
import { crumbsOf, focusOn, levelOf } from "../model/focus";
import type { Problem } from "../model/validate";
import { usePageCommands } from "../navigation/commands";
import { Canvas, type CanvasHandle } from "./Canvas";
import { DesignerDialogs, type DialogName } from "./DesignerDialogs";
import { DesignerToolbar, type DesignerView } from "./DesignerToolbar";
import { t } from "./designerMessages";
import { ProblemsPanel } from "./ProblemsPanel";
import { PythonView } from "./PythonView";
import { focusField } from "./problemField";
import { SourceView } from "./SourceView";
import { useProblems } from "./useProblems";
import { useRunCommand } from "./useRunCommand";
import { useShortcutActions } from "./useShortcutActions";
import { useUnfocusedKeys } from "./useUnfocusedKeys";

interface DesignerProps {
  readonly summary: DefinitionSummary;
  readonly saver: AutoSaver;
  readonly isCode: boolean;
  readonly isLatest: boolean;
}

const NARROW = 1100;

export function Designer({ summary, saver, isCode, isLatest }: DesignerProps) {
  const session = useEditorSession();
  const { document, catalogue, focus, selection, readOnly } = useEditor((snapshot) => snapshot);
  const canvas = useRef<CanvasHandle | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const [dialog, setDialog] = useState<DialogName | null>(null);
  const [view, setView] = useState<DesignerView>("canvas");
  const [showsProblems, setShowsProblems] = useState(false);
  const [showsLibrary, setShowsLibrary] = useState(innerWidth >= NARROW);
  const [keepsInspector, setKeepsInspector] = useState(innerWidth >= NARROW);
  const { problems, worst } = useProblems(document, catalogue, !readOnly);
  const level = useMemo(() => levelOf(document, catalogue, focus), [document, catalogue, focus]);
  const crumbs = useMemo(() => crumbsOf(document, catalogue, level), [document, catalogue, level]);

  const run = useRunCommand();

  const showProblem = (problem: Problem): void => {
    const place = problem.activityId === null ? undefined : placesOf(document).get(problem.activityId);
    if (place === undefined) session.select([]);
    else {
      session.open(focusOn(place), [place.activity.id]);
      requestAnimationFrame(() => canvas.current?.show(place.activity.id));
    }
    focusField(frame.current, problem.path);
  };

  const toggleProblems = useCallback(() => setShowsProblems((shown) => !shown), []);
  const act = useShortcutActions({ canvas, frame, level, crumbs, saver, openDialog: setDialog, toggleProblems });

  const press = (event: KeyboardEvent): void => {
    const target = event.target as HTMLElement;
    const isTyping = target.closest("input, textarea, select, .cm-editor") !== null;
    const id = shortcutOf(event);
    if (id === null) return;
    const isGlobal = id === "save" || id === "publish" || id === "run" || id === "problems" || id === "search";
    if (isTyping && !isGlobal) return;
    // Enter and Space on a button activate the button.
    if (id === "open" && target.closest("button, a, summary") !== null) return;
    if (view === "source" && !isGlobal) return;
    if (act(id)) event.preventDefault();
  };
  useUnfocusedKeys(press);

  // The canvas takes the focus when the page opens.
  useEffect(() => frame.current?.focus({ preventScroll: true }), []);

  // A link may name an activity, which is then selected and shown.
  useEffect(() => {
    const [id] = session.get().selection;
    if (id !== undefined) requestAnimationFrame(() => requestAnimationFrame(() => canvas.current?.show(id)));
  }, [session]);

  usePageCommands(
    "designer",
    useMemo(
      () =>
        readOnly
          ? []
          : [
              {
                id: "designer.publish",
                label: t("publish"),
                icon: "upload" as const,
                keys: keysOf("publish"),
                run: () => setDialog("publish"),
              },
              {
                id: "designer.layout",
                label: t("layout"),
                icon: "wand" as const,
                keys: keysOf("layout"),
                run: () => run(commands.autoLayout()),
              },
              {
                id: "designer.search",
                label: t("search"),
                icon: "search" as const,
                keys: keysOf("search"),
                run: () => setDialog("search"),
              },
              {
                id: "designer.note",
                label: t("note"),
                icon: "edit" as const,
                keys: keysOf("note"),
                run: () => canvas.current?.note(),
              },
              {
                id: "designer.shortcuts",
                label: t("shortcuts"),
                icon: "info" as const,
                keys: keysOf("help"),
                run: () => setDialog("shortcuts"),
              },
            ],
      [readOnly, run],
    ),
  );

  // On a narrow screen the inspector opens only with a selection.
  const showsInspector = keepsInspector || (innerWidth < NARROW && selection.length > 0);
  const hasLibrary = showsLibrary && !readOnly && view === "canvas";
  const columns = [hasLibrary ? "208px" : "", "minmax(0, 1fr)", showsInspector ? "328px" : ""]
    .filter(Boolean)
    .join(" ");
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: receives the shortcuts that bubble up from the focused element
    <div ref={frame} className="hf-designer" tabIndex={-1} onKeyDown={(event) => press(event.nativeEvent)}>
      <DesignerToolbar
        summary={summary}
        saver={saver}
        isCode={isCode}
        level={level}
        crumbs={crumbs}
        problems={problems}
        showsProblems={showsProblems}
        view={view}
        act={act}
        openDialog={setDialog}
        toggleProblems={toggleProblems}
        onView={setView}
        onToggleLibrary={() => setShowsLibrary(!showsLibrary)}
        onToggleInspector={() => setKeepsInspector(!keepsInspector)}
      />
      {readOnly ? (
        <div className="hf-readonly">
          <span className="grow">{t(isCode ? "readOnlyCode" : isLatest ? "readOnlyRole" : "readOnly")}</span>
          {isLatest ? null : (
            <Link to="/definitions/$id" params={{ id: document.id }}>
              {t("latest")}
            </Link>
          )}
        </div>
      ) : null}
      <div className="hf-columns" style={{ gridTemplateColumns: columns }}>
        {hasLibrary ? (
          <Library
            catalogue={catalogue}
            isMachine={level.kind === "states"}
            onAdd={(type) => canvas.current?.add(type)}
          />
        ) : null}
        <div className="hf-center">
          {view === "source" ? <SourceView /> : null}
          {isCode && view === "canvas" ? <PythonView document={document} selected={selection[0] ?? null} /> : null}
          <div className="hf-canvas-slot" hidden={view === "source"}>
            {isCode ? (
              <GraphView
                document={document}
                catalogue={catalogue}
                selected={selection[0] ?? null}
                onSelect={(id) => session.select(id === null ? [] : [id])}
              />
            ) : (
              <Canvas
                problems={worst}
                handle={canvas}
                onComments={(id) => {
                  session.select([id]);
                  setKeepsInspector(true);
                }}
              />
            )}
          </div>
          {showsProblems ? (
            <ProblemsPanel problems={problems} onShow={showProblem} onClose={() => setShowsProblems(false)} />
          ) : null}
        </div>
        {showsInspector ? <Inspector problems={problems} /> : null}
      </div>
      <DesignerDialogs
        open={dialog}
        saver={saver}
        problems={problems}
        onShow={(id) => requestAnimationFrame(() => canvas.current?.show(id))}
        onShowProblem={showProblem}
        onClose={() => setDialog(null)}
      />
    </div>
  );
}

/** Designer: toolbar, library, canvas, inspector and keyboard shortcuts. */

import { Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { download } from "../api/client";
import { useCan } from "../api/session";
import type { DefinitionSummary, Document } from "../api/types";
import { exportPython } from "../definitions/actions";
import { RunDialog } from "../definitions/RunDialog";
import { Breadcrumb } from "../diagram/Breadcrumb";
import { GraphView } from "../diagram/GraphView";
import type { AutoSaver } from "../editor/autosave";
import * as commands from "../editor/commands";
import { directionIn } from "../editor/commands/positions";
import { keysOf, type ShortcutId, shortcutOf } from "../editor/shortcuts";
import { useEditor, useEditorSession } from "../editor/useEditor";
import { defineMessages } from "../i18n/messages";
import { Inspector } from "../inspector/Inspector";
import { Library } from "../library/Library";
import { copyOf, writeClip } from "../model/clipboard";
import { placesOf } from "../model/document";
import { crumbsOf, defaultPortOf, focusOn, levelOf } from "../model/focus";
import { graphOf } from "../model/graph";
import { placeAll } from "../model/layout";
import { withOutcomeOrder } from "../model/outcomeOrder";
import type { Problem } from "../model/validate";
import { usePageCommands } from "../navigation/commands";
import { Badge, Button, Heading, IconButton, Menu, Segments, toast } from "../ui";
import { Canvas, type CanvasHandle } from "./Canvas";
import { ConflictDialog } from "./ConflictDialog";
import { ConnectBox } from "./ConnectBox";
import { paletteOf, toPng, toSvg } from "./imageExport";
import { ProblemsPanel } from "./ProblemsPanel";
import { PublishDialog } from "./PublishDialog";
import { PythonView } from "./PythonView";
import { focusField } from "./problemField";
import { SaveBadge } from "./SaveBadge";
import { SearchBox } from "./SearchBox";
import { ShortcutsDialog } from "./ShortcutsDialog";
import { SourceView } from "./SourceView";
import { useProblems } from "./useProblems";
import { useUnfocusedKeys } from "./useUnfocusedKeys";

const t = defineMessages("designer", {
  all: "Definitions",
  version: "v{n}",
  published: "Published",
  draft: "Draft",
  undo: "Undo",
  redo: "Redo",
  problems: "{n|problem|problems}",
  noProblems: "No problems",
  run: "Run",
  publish: "Publish",
  more: "More",
  view: "View",
  canvas: "Canvas",
  source: "Source",
  layout: "Auto layout",
  layoutAll: "Reset layout",
  layoutDown: "Layout top to bottom",
  layoutRight: "Layout left to right",
  note: "Add note",
  search: "Search in workflow",
  shortcuts: "Keyboard shortcuts",
  exportJson: "Export as JSON",
  exportPython: "Export as Python",
  exportSvg: "Export as SVG",
  exportPng: "Export as PNG",
  versions: "Versions",
  instances: "Instances",
  readOnly: "You are viewing an earlier version. Open the latest version to edit.",
  readOnlyCode: "This workflow is defined in Python code and can be edited only there.",
  readOnlyRole: "Your roles allow you to view this workflow, but not to change it.",
  latest: "Open latest version",
  unsaved:
    "Your changes could not be saved, so the workflow was not started. Resolve the save problem, then run it again.",
  library: "Toggle activity library",
  inspector: "Toggle inspector",
});

interface DesignerProps {
  readonly summary: DefinitionSummary;
  readonly saver: AutoSaver;
  readonly isCode: boolean;
  readonly isLatest: boolean;
}

const NARROW = 1100;

type OpenDialog = "publish" | "run" | "search" | "connect" | "conflict" | "shortcuts" | null;

export function Designer({ summary, saver, isCode, isLatest }: DesignerProps) {
  const session = useEditorSession();
  const { document, catalogue, focus, selection, history, readOnly } = useEditor((snapshot) => snapshot);
  const can = useCan();
  const navigate = useNavigate();
  const canvas = useRef<CanvasHandle | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<OpenDialog>(null);
  const [view, setView] = useState<"canvas" | "source">("canvas");
  const [showsProblems, setShowsProblems] = useState(false);
  const [showsLibrary, setShowsLibrary] = useState(innerWidth >= NARROW);
  const [keepsInspector, setKeepsInspector] = useState(innerWidth >= NARROW);
  const { problems, worst } = useProblems(document, catalogue, !readOnly);
  const level = useMemo(() => levelOf(document, catalogue, focus), [document, catalogue, focus]);
  const crumbs = useMemo(() => crumbsOf(document, catalogue, level), [document, catalogue, level]);
  const errors = problems.filter((problem) => problem.severity === "error").length;

  const run = useCallback(
    (command: Parameters<typeof session.run>[0]) => {
      const verdict = session.run(command);
      if (!verdict.ok) toast.done(verdict.why);
    },
    [session],
  );

  const showProblem = (problem: Problem): void => {
    const place = problem.activityId === null ? undefined : placesOf(document).get(problem.activityId);
    if (place === undefined) session.select([]);
    else {
      session.open(focusOn(place), [place.activity.id]);
      requestAnimationFrame(() => canvas.current?.show(place.activity.id));
    }
    focusField(frame.current, problem.path);
  };

  const copy = useCallback(async () => {
    const state = session.get();
    const clip = copyOf(levelOf(state.document, state.catalogue, state.focus), new Set(state.selection));
    if (clip.activities.length > 0) await navigator.clipboard.writeText(writeClip(clip)).catch(toast.failed);
  }, [session]);

  const exportAs = async (kind: "json" | "svg" | "png"): Promise<void> => {
    if (kind === "json") return download(`${document.id}.json`, JSON.stringify(document, null, 2));
    const shape = graphOf(level, catalogue);
    const direction = level.kind === "flowchart" || level.kind === "states" ? directionIn(level, shape) : "down";
    const places = placeAll(shape, level.kind, direction);
    const picture = toSvg(
      { graph: withOutcomeOrder(shape, places, direction), level: level.kind, direction, places },
      paletteOf(window.document.documentElement),
    );
    if (kind === "svg") return download(`${document.id}.svg`, picture.svg, "image/svg+xml");
    return download(`${document.id}.png`, await toPng(picture));
  };

  const act = useCallback(
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
        connect: () => (selection.length === 1 ? setOpen("connect") : undefined),
        open: () => {
          const activity = level.activities.find((item) => item.id === selection[0]);
          const port = activity === undefined ? null : defaultPortOf(activity, catalogue);
          if (port !== null) session.open(port);
        },
        up: () => {
          const parent = crumbs.at(-2);
          if (parent !== undefined) session.open(parent.focus);
        },
        search: () => setOpen("search"),
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
        publish: () => setOpen("publish"),
        run: () => setOpen("run"),
        problems: () => setShowsProblems((shown) => !shown),
        help: () => setOpen("shortcuts"),
      };
      const what = table[id];
      what?.();
      return what !== undefined;
    },
    [session, run, copy, level, crumbs, selection, catalogue, saver],
  );

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
                run: () => setOpen("publish"),
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
                run: () => setOpen("search"),
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
                run: () => setOpen("shortcuts"),
              },
            ],
      [readOnly, run],
    ),
  );

  const name = document.name || document.id;
  const middle = { x: innerWidth / 2 - 160, y: 96 };
  // On a narrow screen the inspector opens only with a selection.
  const showsInspector = keepsInspector || (innerWidth < NARROW && selection.length > 0);
  const hasLibrary = showsLibrary && !readOnly && view === "canvas";
  const columns = [hasLibrary ? "208px" : "", "minmax(0, 1fr)", showsInspector ? "328px" : ""]
    .filter(Boolean)
    .join(" ");
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: receives the shortcuts that bubble up from the focused element
    <div ref={frame} className="hf-designer" tabIndex={-1} onKeyDown={(event) => press(event.nativeEvent)}>
      <header className="hf-bar">
        <Heading className="visually-hidden">{name}</Heading>
        <Link to="/definitions" className="hf-back" aria-label={t("all")} title={t("all")}>
          ‹
        </Link>
        <Breadcrumb crumbs={crumbs} onOpen={(next) => session.open(next)} />
        <Badge tone={summary.is_published ? "ok" : "off"} title={summary.is_published ? t("published") : t("draft")}>
          {t("version", { n: summary.version })} {summary.is_published ? t("published") : t("draft")}
        </Badge>
        {readOnly ? null : <SaveBadge saver={saver} onResolve={() => setOpen("conflict")} />}
        <span className="grow" />
        {readOnly ? null : (
          <>
            <IconButton
              icon="undo"
              label={undoLabel(t("undo"), history.past.at(-1)?.label, keysOf("undo"))}
              disabled={history.past.length === 0}
              onClick={() => session.undo()}
            />
            <IconButton
              icon="redo"
              label={undoLabel(t("redo"), history.future.at(-1)?.label, keysOf("redo"))}
              disabled={history.future.length === 0}
              onClick={() => session.redo()}
            />
            <button
              type="button"
              className="hf-problem-count"
              data-kind={errors > 0 ? "error" : problems.length > 0 ? "warning" : "none"}
              aria-pressed={showsProblems}
              onClick={() => setShowsProblems(!showsProblems)}
            >
              <i aria-hidden="true" />
              <span>{problems.length > 0 ? t("problems", { n: problems.length }) : t("noProblems")}</span>
            </button>
          </>
        )}
        <Segments
          label={t("view")}
          value={view}
          options={[
            { id: "canvas", label: t("canvas") },
            { id: "source", label: t("source") },
          ]}
          onChange={setView}
        />
        <Menu
          label={t("more")}
          items={[
            !readOnly && { label: t("layout"), icon: "wand", onSelect: () => act("layout") },
            !readOnly && { label: t("layoutAll"), onSelect: () => act("layout-all") },
            !readOnly && { label: t("layoutDown"), onSelect: () => run(commands.autoLayout(true, "down")) },
            !readOnly && { label: t("layoutRight"), onSelect: () => run(commands.autoLayout(true, "right")) },
            !readOnly && { label: t("note"), icon: "edit", onSelect: () => act("note") },
            { label: t("search"), icon: "search", onSelect: () => setOpen("search") },
            "line",
            { label: t("exportJson"), icon: "download", onSelect: () => void exportAs("json") },
            !isCode && {
              label: t("exportPython"),
              onSelect: () =>
                void saver
                  .flush()
                  .then(() => exportPython(document.id))
                  .catch(toast.failed),
            },
            { label: t("exportSvg"), onSelect: () => void exportAs("svg") },
            { label: t("exportPng"), onSelect: () => void exportAs("png").catch(toast.failed) },
            "line",
            {
              label: t("versions"),
              icon: "history",
              onSelect: () => void navigate({ to: "/definitions/$id/versions", params: { id: document.id } }),
            },
            {
              label: t("instances"),
              icon: "list",
              onSelect: () => void navigate({ to: "/instances", search: { definition_id: document.id } }),
            },
            "line",
            !readOnly && { label: t("library"), onSelect: () => setShowsLibrary(!showsLibrary) },
            { label: t("inspector"), onSelect: () => setKeepsInspector(!keepsInspector) },
            { label: t("shortcuts"), icon: "info", onSelect: () => setOpen("shortcuts") },
          ]}
        />
        {can("definitions:execute") ? (
          <Button icon="play" onClick={() => setOpen("run")}>
            {t("run")}
          </Button>
        ) : null}
        {can("definitions:publish") && !readOnly ? (
          <Button kind="primary" onClick={() => setOpen("publish")}>
            {t("publish")}
          </Button>
        ) : null}
      </header>
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
      {open === "publish" ? (
        <PublishDialog
          id={document.id}
          name={name}
          problems={problems}
          flush={() => saver.flush()}
          onShow={showProblem}
          onClose={() => setOpen(null)}
        />
      ) : null}
      {open === "run" ? (
        <SaveAndRun
          id={document.id}
          document={document as unknown as Document}
          saver={saver}
          onClose={() => setOpen(null)}
        />
      ) : null}
      {open === "search" ? (
        <SearchBox
          at={middle}
          onClose={() => setOpen(null)}
          onShow={(id) => requestAnimationFrame(() => canvas.current?.show(id))}
        />
      ) : null}
      {open === "connect" && selection[0] !== undefined ? (
        <ConnectBox from={selection[0]} at={middle} onClose={() => setOpen(null)} />
      ) : null}
      {open === "shortcuts" ? <ShortcutsDialog onClose={() => setOpen(null)} /> : null}
      {open === "conflict" ? (
        <ConflictDialog
          document={document}
          onClose={() => setOpen(null)}
          onMine={(etag) => {
            setOpen(null);
            void saver.overwrite(etag);
          }}
          onTheirs={(theirs, etag) => {
            setOpen(null);
            saver.take(theirs, etag);
            session.load(theirs);
          }}
        />
      ) : null}
    </div>
  );
}

function undoLabel(verb: string, what: string | undefined, keys: string): string {
  return `${verb}${what ? ` ${what}` : ""} (${keys})`;
}

/** Saves pending changes before the run. */
function SaveAndRun({
  id,
  document,
  saver,
  onClose,
}: {
  id: string;
  document: Document;
  saver: AutoSaver;
  onClose: () => void;
}) {
  const [isReady, setReady] = useState(saver.isClean);
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    if (saver.isClean) return;
    void saver.flush().then((isSaved) => {
      if (isSaved) return setReady(true);
      toast.failed(new Error(t("unsaved")));
      close.current();
    });
  }, [saver]);
  return isReady ? <RunDialog id={id} document={document} onClose={onClose} /> : null;
}

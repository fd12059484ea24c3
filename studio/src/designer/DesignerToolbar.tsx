/** Toolbar of the designer: breadcrumb, save state, undo, problems, view, menu, run and publish. */

import { Link, useNavigate } from "@tanstack/react-router";
import { useCan } from "../api/session";
import type { DefinitionSummary } from "../api/types";
import { exportPython } from "../definitions/actions";
import { Breadcrumb } from "../diagram/Breadcrumb";
import type { AutoSaver } from "../editor/autosave";
import * as commands from "../editor/commands";
import { keysOf, type ShortcutId } from "../editor/shortcuts";
import { useEditor, useEditorSession } from "../editor/useEditor";
import type { Crumb, Level } from "../model/focus";
import type { Problem } from "../model/validate";
import { Badge, Button, Heading, IconButton, Menu, Segments, toast } from "../ui";
import type { DialogName } from "./DesignerDialogs";
import { t } from "./designerMessages";
import { exportDefinition } from "./exportDefinition";
import { SaveBadge } from "./SaveBadge";
import { useRunCommand } from "./useRunCommand";

export type DesignerView = "canvas" | "source";

interface DesignerToolbarProps {
  readonly summary: DefinitionSummary;
  readonly saver: AutoSaver;
  readonly isCode: boolean;
  readonly level: Level;
  readonly crumbs: readonly Crumb[];
  readonly problems: readonly Problem[];
  readonly showsProblems: boolean;
  readonly view: DesignerView;
  readonly act: (id: ShortcutId) => boolean;
  readonly openDialog: (name: DialogName) => void;
  readonly toggleProblems: () => void;
  readonly onView: (view: DesignerView) => void;
  readonly onToggleLibrary: () => void;
  readonly onToggleInspector: () => void;
}

export function DesignerToolbar({
  summary,
  saver,
  isCode,
  level,
  crumbs,
  problems,
  showsProblems,
  view,
  act,
  openDialog,
  toggleProblems,
  onView,
  onToggleLibrary,
  onToggleInspector,
}: DesignerToolbarProps) {
  const session = useEditorSession();
  const { document, catalogue, history, readOnly } = useEditor((snapshot) => snapshot);
  const can = useCan();
  const navigate = useNavigate();
  const run = useRunCommand();
  const name = document.name || document.id;
  const errors = problems.filter((problem) => problem.severity === "error").length;
  const exportAs = (kind: "json" | "svg" | "png"): void =>
    void exportDefinition(document, level, catalogue, kind).catch(toast.failed);
  return (
    <header className="hf-bar">
      <Heading className="visually-hidden">{name}</Heading>
      <Link to="/definitions" className="hf-back" aria-label={t("all")} title={t("all")}>
        ‹
      </Link>
      <Breadcrumb crumbs={crumbs} onOpen={(next) => session.open(next)} />
      <Badge tone={summary.is_published ? "ok" : "off"} title={summary.is_published ? t("published") : t("draft")}>
        {t("version", { n: summary.version })} {summary.is_published ? t("published") : t("draft")}
      </Badge>
      {readOnly ? null : <SaveBadge saver={saver} onResolve={() => openDialog("conflict")} />}
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
            onClick={toggleProblems}
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
        onChange={onView}
      />
      <Menu
        label={t("more")}
        items={[
          !readOnly && { label: t("layout"), icon: "wand", onSelect: () => act("layout") },
          !readOnly && { label: t("layoutAll"), onSelect: () => act("layout-all") },
          !readOnly && { label: t("layoutDown"), onSelect: () => run(commands.autoLayout(true, "down")) },
          !readOnly && { label: t("layoutRight"), onSelect: () => run(commands.autoLayout(true, "right")) },
          !readOnly && { label: t("note"), icon: "edit", onSelect: () => act("note") },
          { label: t("search"), icon: "search", onSelect: () => openDialog("search") },
          "line",
          { label: t("exportJson"), icon: "download", onSelect: () => exportAs("json") },
          !isCode && {
            label: t("exportPython"),
            onSelect: () =>
              void saver
                .flush()
                .then(() => exportPython(document.id))
                .catch(toast.failed),
          },
          { label: t("exportSvg"), onSelect: () => exportAs("svg") },
          { label: t("exportPng"), onSelect: () => exportAs("png") },
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
          !readOnly && { label: t("library"), onSelect: onToggleLibrary },
          { label: t("inspector"), onSelect: onToggleInspector },
          { label: t("shortcuts"), icon: "info", onSelect: () => openDialog("shortcuts") },
        ]}
      />
      {can("definitions:execute") ? (
        <Button icon="play" onClick={() => openDialog("run")}>
          {t("run")}
        </Button>
      ) : null}
      {can("definitions:publish") && !readOnly ? (
        <Button kind="primary" onClick={() => openDialog("publish")}>
          {t("publish")}
        </Button>
      ) : null}
    </header>
  );
}

function undoLabel(verb: string, what: string | undefined, keys: string): string {
  return `${verb}${what ? ` ${what}` : ""} (${keys})`;
}

/** Editable canvas. React Flow renders it; every change is a command of the session. */

import { Background, BackgroundVariant, MiniMap, ReactFlow, SelectionMode, useReactFlow } from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { useCallback, useMemo, useRef } from "react";
import * as commands from "../editor/commands";
import { directionIn } from "../editor/commands/positions";
import { defineMessages } from "../i18n/messages";
import { defaultPortOf, type Focus, levelOf } from "../model/focus";
import { graphOf } from "../model/graph";
import { placeAfter } from "../model/layout";
import { withOutcomeOrder } from "../model/outcomeOrder";
import type { Worst } from "../model/problems";
import { isDark } from "../ui/theme";
import "../diagram/styles.css";
import { viewportAnimation } from "../diagram/animation";
import { Card, type CardActions, CardActionsContext } from "../diagram/Card";
import { Arrows, Edge, InsertContext } from "../diagram/Edge";
import { type AnyNode, type ConnectionEdge, type Drawing, type Mark, toEdges } from "../diagram/flowElements";
import { type ChangeNote, NoteCard, NoteContext } from "../diagram/NoteCard";
import { OverviewCanvas } from "../diagram/overview/OverviewCanvas";
import type { OverviewActions } from "../diagram/overview/pointer";
import { LARGE_GRAPH } from "../diagram/overview/scene";
import { MIN_ZOOM, useOverview } from "../diagram/overview/useOverview";
import { usePositions } from "../diagram/usePositions";
import { ZoomControls } from "../diagram/ZoomControls";
import { useEditor, useEditorSession } from "../editor/useEditor";
import { afterSelected, centreOf, cornerOf, firstOf, freeCorner, pasteText, screenOf } from "./placement";
import { QuickAdd } from "./QuickAdd";
import { useCanvasNodes } from "./useCanvasNodes";
import { useConnectionHandlers } from "./useConnectionHandlers";
import { useInsertion } from "./useInsertion";
import { useReveal } from "./useReveal";
import { useRunCommand } from "./useRunCommand";

const t = defineMessages("canvas", {
  label: "Canvas",
  empty: "Drag an activity here, or press A to add the first one.",
  emptyStates: "Press A to add the first state.",
});

const NODE_TYPES = { card: Card, note: NoteCard };
const EDGE_TYPES = { connection: Edge };
const MINIMAP_MIN_NODES = 20;
const MINIMAP_MAX_NODES = 500;
const MINIMAP_SIZE = { width: 160, height: 112 };
const MULTI_KEYS = ["Shift", "Meta", "Control"];
const SNAP: [number, number] = [8, 8];
const NO_CARDS: AnyNode[] = [];
const NO_EDGES: ConnectionEdge[] = [];
const NO_MARKS: Readonly<Record<string, Mark>> = {};

export interface CanvasHandle {
  quickAdd(): void;
  fit(): void;
  actualSize(): void;
  show(id: string): void;
  add(type: string): void;
  note(): void;
  paste(text: string): void;
}

interface CanvasProps {
  readonly problems: ReadonlyMap<string, Worst>;
  readonly handle: { current: CanvasHandle | null };
  readonly onComments: (id: string) => void;
}

export function Canvas({ problems, handle, onComments }: CanvasProps) {
  const session = useEditorSession();
  const { document, focus, selection, catalogue, readOnly } = useEditor((snapshot) => snapshot);
  const flow = useReactFlow<AnyNode, ConnectionEdge>();
  const frame = useRef<HTMLDivElement>(null);

  const level = useMemo(() => levelOf(document, catalogue, focus), [document, catalogue, focus]);
  const shape = useMemo(() => graphOf(level, catalogue), [level, catalogue]);
  const isFree = level.kind === "flowchart" || level.kind === "states";
  const direction = useMemo(() => (isFree ? directionIn(level, shape) : "down"), [isFree, level, shape]);
  const places = usePositions(shape, level.kind, direction);
  const graph = useMemo(() => withOutcomeOrder(shape, places, direction), [shape, places, direction]);
  const drawing = useMemo<Drawing>(
    () => ({
      graph,
      level: level.kind,
      places,
      direction,
      selection: new Set(selection),
      problems,
      marks: NO_MARKS,
      readOnly,
    }),
    [graph, level.kind, places, direction, selection, problems, readOnly],
  );

  const { nodes, drawn, settle, onNodesChange } = useCanvasNodes(drawing);
  const { insertRequest, setInsertRequest, add, quickAdd, insert, drop } = useInsertion(drawing, frame);
  const run = useRunCommand();
  const lastEdges = useRef<ConnectionEdge[]>([]);

  const where = `${level.container?.id ?? ""}/${level.focus.port}/${level.focus.index ?? ""}/${level.focus.key ?? ""}`;
  const overview = useOverview(drawing, where, frame, firstOf(graph, places, direction));
  const isOverview = overview.scene !== null;
  useReveal(drawing, where, frame);
  const edges = useMemo(() => {
    if (isOverview) return NO_EDGES;
    lastEdges.current = toEdges(drawing, lastEdges.current);
    return lastEdges.current;
  }, [drawing, isOverview]);
  const show = useCallback(
    (id: string) => {
      const at = drawn.current.places.get(id);
      if (at !== undefined)
        void flow.setCenter(at.x + 116, at.y + 28, { zoom: Math.max(flow.getZoom(), 0.8), ...viewportAnimation() });
    },
    [flow, drawn],
  );

  const { connect, connectEnd, isValid, onEdgesChange, reconnect } = useConnectionHandlers(
    level,
    edges,
    setInsertRequest,
  );

  const openDefaultPort = useCallback(
    (_event: unknown, node: AnyNode) => {
      const activity = node.type === "card" ? node.data.node.activity : null;
      const port = activity === null ? null : defaultPortOf(activity, catalogue);
      if (port !== null) session.open(port);
    },
    [catalogue, session],
  );

  const overviewActions = useMemo<OverviewActions>(
    () => ({ select: (ids) => session.select(ids), move: readOnly ? null : settle, open: show }),
    [session, readOnly, settle, show],
  );

  const onPaneClick = useCallback(
    (event: { readonly detail: number; readonly clientX: number; readonly clientY: number }) => {
      // The overview has no card elements, so React Flow does not clear the selection by itself.
      if (overview.scene !== null) session.select([]);
      if (event.detail !== 2 || readOnly) return;
      const at = { x: event.clientX, y: event.clientY };
      quickAdd({ at, place: flow.screenToFlowPosition({ x: at.x - 116, y: at.y - 28 }) });
    },
    [readOnly, quickAdd, flow, session, overview.scene],
  );

  const actions = useMemo<CardActions>(
    () => ({
      open: (next: Focus) => session.open(next),
      quickAdd: (id, outcome, at) => {
        const source = graph.nodes.find((node) => node.id === id);
        const place =
          source === undefined ? undefined : placeAfter(graph, places, source, direction, { width: 232, height: 56 });
        quickAdd({ at, after: { id, outcome }, place });
      },
      comments: onComments,
    }),
    [session, graph, places, direction, quickAdd, onComments],
  );

  const changeNote = useCallback<ChangeNote>(
    (id, change) => void session.run(commands.changeNote(id, change)),
    [session],
  );

  handle.current = {
    fit: () => overview.fitView(true),
    actualSize: () => void flow.zoomTo(1, viewportAnimation()),
    quickAdd: () => {
      const chosen = selection[0];
      const source =
        graph.nodes.find((node) => node.id === chosen) ?? (graph.nodes.length === 0 ? undefined : graph.nodes.at(-1));
      const at = screenOf(flow, source === undefined ? null : (places.get(source.id) ?? null), frame.current);
      quickAdd({ at, after: afterSelected(graph, selection) });
    },
    show,
    add: (type) => add(type, null),
    note: () =>
      run(commands.addNote(freeCorner(flow.screenToFlowPosition(cornerOf(frame.current)), graph, places, direction))),
    paste: (text) => pasteText(text, flow.screenToFlowPosition(centreOf(frame.current)), run),
  };

  const isBig = graph.nodes.length > MINIMAP_MAX_NODES;
  return (
    <CardActionsContext.Provider value={actions}>
      <InsertContext.Provider value={readOnly ? null : insert}>
        <NoteContext.Provider value={readOnly ? null : changeNote}>
          {/* biome-ignore lint/a11y/noStaticElementInteractions: drop target of the library; a click or Enter there adds an activity too */}
          <div
            ref={frame}
            className="hf-canvas"
            data-kind={level.kind}
            onDrop={drop}
            onDragOver={(event) => event.preventDefault()}
          >
            <Arrows />
            <ReactFlow<AnyNode, ConnectionEdge>
              aria-label={t("label")}
              nodes={isOverview ? NO_CARDS : nodes}
              edges={edges}
              nodeTypes={NODE_TYPES}
              edgeTypes={EDGE_TYPES}
              onNodesChange={onNodesChange}
              onEdgesChange={onEdgesChange}
              onConnect={connect}
              onConnectEnd={connectEnd}
              onReconnect={reconnect}
              isValidConnection={isValid}
              onNodeDoubleClick={openDefaultPort}
              onPaneClick={onPaneClick}
              nodesDraggable={!readOnly}
              nodesConnectable={!readOnly}
              connectOnClick={false}
              connectionRadius={32}
              deleteKeyCode={null}
              multiSelectionKeyCode={MULTI_KEYS}
              selectionMode={SelectionMode.Partial}
              selectionKeyCode={isOverview ? null : "Shift"}
              zoomOnDoubleClick={false}
              panOnScroll
              snapToGrid
              snapGrid={SNAP}
              minZoom={MIN_ZOOM}
              maxZoom={2}
              onlyRenderVisibleElements={graph.nodes.length > LARGE_GRAPH}
              elevateNodesOnSelect={false}
              colorMode={isDark() ? "dark" : "light"}
            >
              {overview.scene === null ? null : <OverviewCanvas scene={overview.scene} actions={overviewActions} />}
              <Background variant={BackgroundVariant.Dots} gap={16} size={1} color="var(--canvas-dot)" />
              <ZoomControls onFit={() => overview.fitView(true)} />
              {isBig || isOverview || graph.nodes.length < MINIMAP_MIN_NODES ? null : (
                <MiniMap pannable zoomable position="bottom-right" nodeStrokeWidth={0} style={MINIMAP_SIZE} />
              )}
            </ReactFlow>
            {graph.nodes.length === 0 ? (
              <p className="hf-canvas-empty">{t(level.kind === "states" ? "emptyStates" : "empty")}</p>
            ) : null}
            {insertRequest !== null ? (
              <QuickAdd
                at={insertRequest.at}
                catalogue={catalogue}
                onPick={(type) => {
                  setInsertRequest(null);
                  add(type, insertRequest);
                }}
                onClose={() => setInsertRequest(null)}
              />
            ) : null}
          </div>
        </NoteContext.Provider>
      </InsertContext.Provider>
    </CardActionsContext.Provider>
  );
}

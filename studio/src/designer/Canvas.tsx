/** Editable canvas. React Flow renders it; every change is a command of the session. */

import {
  Background,
  BackgroundVariant,
  type Connection,
  type EdgeChange,
  type FinalConnectionState,
  MiniMap,
  type NodeChange,
  ReactFlow,
  SelectionMode,
  useReactFlow,
} from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { type DragEvent, useCallback, useMemo, useRef, useState } from "react";
import * as commands from "../editor/commands";
import { directionIn } from "../editor/commands/positions";
import { mayConnect } from "../editor/rules";
import { defineMessages } from "../i18n/messages";
import { DRAG_TYPE } from "../library/Library";
import { defaultPortOf, type Focus, levelOf } from "../model/focus";
import { graphOf, type Point, STATE } from "../model/graph";
import { placeAfter } from "../model/layout";
import { withOutcomeOrder } from "../model/outcomeOrder";
import type { Worst } from "../model/problems";
import { toast } from "../ui";
import { isDark } from "../ui/theme";
import "../diagram/styles.css";
import { viewportAnimation } from "../diagram/animation";
import { Card, type CardActions, CardActionsContext } from "../diagram/Card";
import { Arrows, Edge, type Insert, InsertContext } from "../diagram/Edge";
import { type AnyNode, type ConnectionEdge, type Drawing, type Mark, toEdges, toNodes } from "../diagram/flowElements";
import { type ChangeNote, NoteCard, NoteContext } from "../diagram/NoteCard";
import { OverviewCanvas } from "../diagram/overview/OverviewCanvas";
import type { OverviewActions } from "../diagram/overview/pointer";
import { LARGE_GRAPH } from "../diagram/overview/scene";
import { MIN_ZOOM, useOverview } from "../diagram/overview/useOverview";
import { usePositions } from "../diagram/usePositions";
import { ZoomControls } from "../diagram/ZoomControls";
import { useEditor, useEditorSession } from "../editor/useEditor";
import {
  afterSelected,
  centreOf,
  cornerOf,
  edgeUnder,
  firstOf,
  freeCorner,
  isFreeLevel,
  makeRoom,
  pasteText,
  reorderBy,
  reselected,
  screenOf,
} from "./placement";
import { QuickAdd } from "./QuickAdd";
import { useReveal } from "./useReveal";

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

interface InsertRequest {
  readonly at: Point;
  readonly after?: { readonly id: string; readonly outcome: string } | undefined;
  readonly edge?: string | undefined;
  readonly place?: Point | undefined;
}

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
  const [insertRequest, setInsertRequest] = useState<InsertRequest | null>(null);
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

  // Local nodes of React Flow: between two edits they also hold the positions of a drag.
  const [nodes, setNodes] = useState<AnyNode[]>(() => toNodes(drawing, []));
  const drawn = useRef(drawing);
  const moving = useRef(new Map<string, Point>());
  if (drawn.current !== drawing) {
    drawn.current = drawing;
    setNodes((before) => toNodes(drawing, before));
  }
  const lastEdges = useRef<ConnectionEdge[]>([]);

  const run = useCallback(
    (command: Parameters<typeof session.run>[0]): boolean => {
      const verdict = session.run(command);
      if (!verdict.ok) toast.done(verdict.why);
      return verdict.ok;
    },
    [session],
  );

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
    [flow],
  );

  const settle = useCallback(
    (settled: ReadonlyMap<string, Point>) => {
      const { current } = drawn;
      if (isFreeLevel(current)) session.run(commands.move(settled));
      else reorderBy(settled, current, (id, index) => session.run(commands.reorder(id, index)));
    },
    [session],
  );

  // -- changes that React Flow reports --------------------------------------------------------------------------------

  const onNodesChange = useCallback(
    (changes: NodeChange<AnyNode>[]) => {
      const picked = new Map<string, boolean>();
      const settled = new Map<string, Point>();
      for (const change of changes) {
        if (change.type === "select") picked.set(change.id, change.selected);
        else if (change.type === "position" && change.position !== undefined) {
          moving.current.set(change.id, change.position);
          if (!change.dragging) settled.set(change.id, change.position);
        } else if (change.type === "position" && change.dragging === false) {
          const at = moving.current.get(change.id);
          if (at !== undefined) settled.set(change.id, at);
        }
      }
      if (picked.size > 0) session.select(reselected(session.get().selection, picked));
      if (settled.size > 0) {
        moving.current.clear();
        settle(settled);
        // Resets the cards to the positions of the document, whatever the command changed.
        setNodes((before) =>
          toNodes(
            drawn.current,
            before.map(
              (node) =>
                (settled.has(node.id) ? { ...node, position: { ...node.position, x: Number.NaN } } : node) as AnyNode,
            ),
          ),
        );
        return;
      }
      const moved = moving.current;
      if (moved.size > 0 && changes.some((change) => change.type === "position")) {
        setNodes((before) =>
          before.map((node) => {
            const at = moved.get(node.id);
            return at === undefined ? node : { ...node, position: at };
          }),
        );
      }
    },
    [session, settle],
  );

  const connect = useCallback(
    ({ source, sourceHandle, target }: Connection) => void run(commands.connect(source, sourceHandle, target)),
    [run],
  );

  const connectEnd = useCallback(
    (event: MouseEvent | TouchEvent, state: FinalConnectionState) => {
      if (state.toNode !== null || state.fromNode === null || state.fromHandle?.type !== "source") return;
      const point = "changedTouches" in event ? event.changedTouches[0] : event;
      if (point === undefined) return;
      const at = { x: point.clientX, y: point.clientY };
      const place = flow.screenToFlowPosition(at);
      if (state.fromNode.id.startsWith(STATE))
        run(commands.addState({ x: place.x - 116, y: place.y }, state.fromNode.id));
      else
        setInsertRequest({
          at,
          after: { id: state.fromNode.id, outcome: state.fromHandle.id ?? "Done" },
          place: { x: place.x - 116, y: place.y },
        });
    },
    [flow, run],
  );

  const isValid = useCallback(
    ({ source, sourceHandle, target }: Connection | ConnectionEdge) =>
      mayConnect(level, catalogue, source, sourceHandle ?? null, target).ok,
    [level, catalogue],
  );

  const onEdgesChange = useCallback(
    (changes: EdgeChange<ConnectionEdge>[]) => {
      const picked = new Map<string, boolean>();
      for (const change of changes) {
        if (change.type !== "select") continue;
        const index = edges.find((edge) => edge.id === change.id)?.data?.index;
        if (index !== null && index !== undefined) picked.set(`edge:${index}`, change.selected);
      }
      if (picked.size > 0) session.select(reselected(session.get().selection, picked));
    },
    [edges, session],
  );

  const reconnect = useCallback(
    (edge: ConnectionEdge, next: Connection) => {
      const index = edge.data?.index;
      if (index !== null && index !== undefined)
        run(commands.redirect(index, { from: next.source, to: next.target, outcome: next.sourceHandle }));
    },
    [run],
  );

  const openDefaultPort = useCallback(
    (_event: unknown, node: AnyNode) => {
      const activity = node.type === "card" ? node.data.node.activity : null;
      const port = activity === null ? null : defaultPortOf(activity, catalogue);
      if (port !== null) session.open(port);
    },
    [catalogue, session],
  );

  // -- from afar --------------------------------------------------------------------------------------------------------

  const overviewActions = useMemo<OverviewActions>(
    () => ({ select: (ids) => session.select(ids), move: readOnly ? null : settle, open: show }),
    [session, readOnly, settle, show],
  );

  // -- adding -----------------------------------------------------------------------------------------------------------

  const add = useCallback(
    (type: string, ask: InsertRequest | null) => {
      const { selection: chosen } = session.get();
      const after = ask?.after ?? (ask?.edge === undefined ? afterSelected(graph, chosen) : undefined);
      const source = after === undefined ? undefined : graph.nodes.find((node) => node.id === after.id);
      const edge = ask?.edge === undefined ? undefined : graph.edges.find((item) => item.id === ask.edge);
      const next = { width: 232, height: 56 };
      const room = edge === undefined || level.kind !== "flowchart" ? null : makeRoom(edge, graph, places, direction);
      const place =
        room?.at ??
        ask?.place ??
        (source !== undefined
          ? placeAfter(graph, places, source, direction, next)
          : flow.screenToFlowPosition(centreOf(frame.current)));
      if (level.kind === "states") {
        run(commands.addState(place, source?.id ?? null));
        return;
      }
      const index =
        edge !== undefined && edge.index === null
          ? graph.nodes.findIndex((node) => node.id === edge.target)
          : undefined;
      run(
        commands.addActivity({
          type,
          at: place,
          after,
          split: edge?.index ?? undefined,
          room: room?.room,
          index: index === undefined || index < 0 ? undefined : index,
        }),
      );
    },
    [session, graph, places, direction, flow, run, level.kind],
  );

  const quickAdd = useCallback(
    (ask: InsertRequest) => {
      if (level.kind === "states")
        run(commands.addState(ask.place ?? flow.screenToFlowPosition(ask.at), ask.after?.id ?? null));
      else setInsertRequest(ask);
    },
    [level.kind, flow, run],
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

  const insert = useCallback<Insert>(
    (edge, at) => {
      const place = flow.screenToFlowPosition(at);
      setInsertRequest({ at, edge, place: { x: place.x - 116, y: place.y - 28 } });
    },
    [flow],
  );
  const changeNote = useCallback<ChangeNote>(
    (id, change) => void session.run(commands.changeNote(id, change)),
    [session],
  );

  const drop = (event: DragEvent): void => {
    const type = event.dataTransfer.getData(DRAG_TYPE);
    if (!type || readOnly) return;
    event.preventDefault();
    const at = { x: event.clientX, y: event.clientY };
    const place = flow.screenToFlowPosition(at);
    const edge = edgeUnder(at);
    if (edge !== null) add(type, { at, edge, place: { x: place.x - 116, y: place.y - 28 } });
    else {
      session.select([]);
      add(type, { at, place: { x: place.x - 116, y: place.y - 28 } });
    }
  };

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

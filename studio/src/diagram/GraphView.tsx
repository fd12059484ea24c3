/** Read-only diagram of a definition, for instances (with statuses), versions and diffs. */

import { Background, BackgroundVariant, Position, ReactFlow, ReactFlowProvider, useReactFlow } from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { useEffect, useMemo, useRef, useState } from "react";
import { directionIn } from "../editor/commands/positions";
import type { Catalogue } from "../model/descriptors";
import { ancestry, type Definition, placesOf } from "../model/document";
import { crumbsOf, defaultPortOf, type Focus, focusOn, levelOf, ROOT } from "../model/focus";
import { type Graph, graphOf, type Point } from "../model/graph";
import { withIds } from "../model/ids";
import type { JsonObject } from "../model/json";
import { CARD_WIDTH } from "../model/layout";
import { isNestable, type Nested, nestedOf } from "../model/nestedLayout";
import { withOutcomeOrder } from "../model/outcomeOrder";
import { isDark } from "../ui/theme";
import { Breadcrumb } from "./Breadcrumb";
import "./styles.css";
import { useCatalogue } from "../catalogue/useCatalogue";
import { viewportAnimation } from "./animation";
import { Card, type CardActions, CardActionsContext } from "./Card";
import { Arrows, Edge } from "./Edge";
import { Frame, type FrameNode } from "./Frame";
import { type AnyNode, type ConnectionEdge, type Drawing, type Mark, toEdges, toNodes } from "./flowElements";
import { NoteCard } from "./NoteCard";
import { OverviewCanvas } from "./overview/OverviewCanvas";
import type { OverviewActions } from "./overview/pointer";
import { LARGE_GRAPH } from "./overview/scene";
import { MIN_ZOOM, useOverview } from "./overview/useOverview";
import { usePositions } from "./usePositions";
import { ZoomControls } from "./ZoomControls";

const NODE_TYPES = { card: Card, note: NoteCard, frame: Frame };

type Shown = AnyNode | FrameNode;
const EDGE_TYPES = { connection: Edge };
const NO_CARDS: Shown[] = [];
const NO_EDGES: ConnectionEdge[] = [];
const NO_PROBLEMS = new Map<string, never>();

export interface GraphViewProps {
  readonly document: JsonObject | Definition | Record<string, unknown>;
  /** Marks by activity id. */
  readonly statuses?: Readonly<Record<string, Mark>>;
  /** Marks by `from|outcome|to`: `added` or `removed`. */
  readonly edgeMarks?: Readonly<Record<string, string>>;
  readonly selected?: string | null;
  readonly onSelect?: (activityId: string | null) => void;
  readonly catalogue?: Catalogue;
}

export function GraphView(props: GraphViewProps) {
  return (
    <ReactFlowProvider>
      <Inner {...props} />
    </ReactFlowProvider>
  );
}

const NO_MARKS: Readonly<Record<string, Mark>> = {};

function Inner({
  document: given,
  statuses = NO_MARKS,
  edgeMarks,
  selected = null,
  onSelect,
  catalogue: own,
}: GraphViewProps) {
  const loaded = useCatalogue();
  const catalogue = own ?? loaded.catalogue;
  const document = useMemo(() => withIds(given as JsonObject), [given]);
  const [focus, setFocus] = useState<Focus>(ROOT);
  const flow = useReactFlow<Shown, ConnectionEdge>();
  const frame = useRef<HTMLDivElement>(null);
  // Shows the whole workflow in one diagram, except for state machines, very large workflows and an opened level.
  const nested = useMemo(
    () =>
      focus === ROOT && hasContainers(document) && isNestable(document, placesOf(document).size)
        ? nestedOf(document, catalogue)
        : null,
    [document, catalogue, focus],
  );
  const level = useMemo(() => levelOf(document, catalogue, focus), [document, catalogue, focus]);
  const shape = useMemo(() => (nested === null ? graphOf(level, catalogue) : flat(nested)), [nested, level, catalogue]);
  const isFree = level.kind === "flowchart" || level.kind === "states";
  const direction = isFree && nested === null ? directionIn(level, shape) : "down";
  const computed = usePositions(nested === null ? shape : EMPTY_GRAPH, level.kind, direction);
  const places = useMemo(
    () => (nested === null ? computed : new Map(nested.boxes.map((box) => [box.node.id, { x: box.x, y: box.y }]))),
    [nested, computed],
  );
  const graph = useMemo(() => withOutcomeOrder(shape, places, direction), [shape, places, direction]);
  const kind = nested === null ? level.kind : "flowchart";
  const marks = useMemo(() => withContainers(document, statuses), [document, statuses]);
  const drawing = useMemo<Drawing>(
    () => ({
      graph,
      level: kind,
      places,
      direction,
      selection: new Set(selected === null ? [] : [selected]),
      problems: NO_PROBLEMS,
      marks,
      readOnly: true,
      nested: nested !== null,
    }),
    [graph, kind, places, direction, selected, marks, nested],
  );
  const lastNodes = useRef<AnyNode[]>([]);
  const lastEdges = useRef<ConnectionEdge[]>([]);
  const nodes = useMemo<Shown[]>(() => {
    const cards = toNodes(drawing, lastNodes.current);
    lastNodes.current = cards;
    return nested === null ? cards : framed(nested, cards, marks, selected);
  }, [drawing, nested, marks, selected]);
  const edges = useMemo(() => {
    lastEdges.current = toEdges(drawing, lastEdges.current, edgeMarks);
    return lastEdges.current;
  }, [drawing, edgeMarks]);

  // An activity selected elsewhere, such as in the journal, is brought into view.
  useEffect(() => {
    const place = selected === null ? undefined : placesOf(document).get(selected);
    if (place === undefined || nested !== null) return;
    setFocus((now) =>
      levelOf(document, catalogue, now).activities.some((activity) => activity.id === selected) ? now : focusOn(place),
    );
  }, [selected, document, catalogue, nested]);
  const where = `${level.container?.id ?? ""}/${level.focus.port}/${level.focus.index ?? ""}`;
  const overview = useOverview(drawing, `${where}/${nodes.length}`, frame, null, nested?.boxes);
  const overviewActions = useMemo<OverviewActions>(
    () => ({
      select: (ids) => onSelect?.(ids[0] ?? null),
      move: null,
      open: (id) => void flow.setCenter(...centreOf(places.get(id)), { zoom: 0.8, ...viewportAnimation() }),
    }),
    [onSelect, flow, places],
  );

  const actions = useMemo<CardActions>(
    () => ({ open: setFocus, quickAdd: () => undefined, comments: () => undefined }),
    [],
  );
  const crumbs = crumbsOf(document, catalogue, level);
  return (
    <CardActionsContext.Provider value={actions}>
      <div ref={frame} className="hf-canvas" data-kind={kind} data-nested={nested === null ? undefined : ""}>
        <Arrows />
        <ReactFlow<Shown, ConnectionEdge>
          nodes={overview.scene === null ? nodes : NO_CARDS}
          edges={overview.scene === null ? edges : NO_EDGES}
          nodeTypes={NODE_TYPES}
          edgeTypes={EDGE_TYPES}
          nodesDraggable={false}
          nodesConnectable={false}
          deleteKeyCode={null}
          onNodeClick={(_event, node) => onSelect?.(node.type === "note" ? null : node.id)}
          onPaneClick={() => onSelect?.(null)}
          onNodeDoubleClick={(_event, node) => {
            const activity = node.type === "card" ? node.data.node.activity : null;
            const port = activity === null ? null : defaultPortOf(activity, catalogue);
            if (port !== null) setFocus(port);
          }}
          zoomOnDoubleClick={false}
          panOnScroll
          minZoom={MIN_ZOOM}
          maxZoom={2}
          onlyRenderVisibleElements={graph.nodes.length > LARGE_GRAPH}
          colorMode={isDark() ? "dark" : "light"}
        >
          {overview.scene === null ? null : <OverviewCanvas scene={overview.scene} actions={overviewActions} />}
          <Background variant={BackgroundVariant.Dots} gap={16} size={1} color="var(--canvas-dot)" />
          <ZoomControls onFit={() => overview.fitView(true)} />
        </ReactFlow>
        {crumbs.length > 1 ? (
          <div className="hf-crumbs-float">
            <Breadcrumb crumbs={crumbs} onOpen={setFocus} />
          </div>
        ) : null}
      </div>
    </CardActionsContext.Provider>
  );
}

function centreOf(at: Point | undefined): [number, number] {
  return [(at?.x ?? 0) + CARD_WIDTH / 2, (at?.y ?? 0) + 28];
}

const EMPTY_GRAPH: Graph = { nodes: [], edges: [], notes: [] };

function hasContainers(document: Definition): boolean {
  return [...placesOf(document).values()].some(
    (place) => place.depth > 1 || (place.depth === 1 && place.index === null),
  );
}

function flat(nested: Nested): Graph {
  return { nodes: nested.boxes.map((box) => box.node), edges: nested.edges, notes: [] };
}

/** Replaces the cards of containers by frames, outer frames behind inner ones. */
function framed(
  nested: Nested,
  cards: readonly AnyNode[],
  marks: Readonly<Record<string, Mark>>,
  selected: string | null,
): Shown[] {
  const byId = new Map(cards.map((card) => [card.id, card]));
  return nested.boxes.flatMap((box): Shown[] => {
    const card = byId.get(box.node.id);
    if (box.kind === "card") return card === undefined ? [] : [{ ...card, zIndex: 20 } as Shown];
    const { outcomes } = card?.type === "card" ? card.data.node : box.node;
    const size = { width: box.width, height: box.height };
    const handle = { width: 8, height: 8 };
    return [
      {
        id: box.node.id,
        type: "frame",
        position: { x: box.x, y: box.y },
        data: { box, mark: marks[box.node.id] ?? null },
        selected: box.node.id === selected,
        zIndex: box.depth,
        ...size,
        measured: size,
        handles: [
          { id: "in", type: "target", position: Position.Top, x: box.width / 2 - 4, y: -4, ...handle },
          ...(outcomes.length > 0 ? outcomes : ["Done"]).map((id, index, all) => ({
            id,
            type: "source" as const,
            position: Position.Bottom,
            x: (box.width * (index + 1)) / (all.length + 1) - 4,
            y: box.height - 4,
            ...handle,
          })),
        ],
        draggable: false,
        ariaLabel: [box.node.title, box.node.summary].filter(Boolean).join(", "),
      },
    ];
  });
}

const RANK = [
  "faulted",
  "running",
  "suspended",
  "waiting",
  "scheduled",
  "added",
  "removed",
  "changed",
  "moved",
  "completed",
  "finished",
  "canceled",
  "skipped",
];

/** A container without a status of its own shows the most urgent status of its content. */
function withContainers(
  document: Definition,
  statuses: Readonly<Record<string, Mark>>,
): Readonly<Record<string, Mark>> {
  const marks: Record<string, Mark> = { ...statuses };
  for (const [id, mark] of Object.entries(statuses)) {
    for (const place of ancestry(document, id).slice(0, -1)) {
      const outer = place.activity.id;
      if (statuses[outer] !== undefined) continue;
      const before = marks[outer];
      if (before === undefined || RANK.indexOf(mark.status) < RANK.indexOf(before.status))
        marks[outer] = { status: mark.status };
    }
  }
  return marks;
}

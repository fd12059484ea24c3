/** A connection: line, outcome label and insert button. Plain SVG, because a diagram may have a thousand of them. */

import { BaseEdge, type EdgeProps, getSmoothStepPath, Position } from "@xyflow/react";
import { createContext, memo, useContext } from "react";
import { defineMessages } from "../i18n/messages";
import { detourPath } from "../model/routing";
import type { ConnectionData, ConnectionEdge } from "./flowElements";

const t = defineMessages("way", { insert: "Insert activity" });

export type Insert = (edgeId: string, at: { x: number; y: number }) => void;

export const InsertContext = createContext<Insert | null>(null);

const LETTER_WIDTH = 6.2;
const MAX_LABEL_LENGTH = 18;

export const Edge = memo(function Edge(props: EdgeProps<ConnectionEdge>) {
  const { id, selected, data } = props;
  const insert = useContext(InsertContext);
  const [path, middleX, middleY] = pathOf(props, data);
  const text = data?.label ?? "";
  const label = text.length > MAX_LABEL_LENGTH ? `${text.slice(0, MAX_LABEL_LENGTH - 1)}…` : text;
  const width = label.length * LETTER_WIDTH + 12;
  const [labelX, labelY] = data?.level === "states" ? [middleX, middleY] : besideSource(props, width);
  const mayInsert = insert !== null && data?.readOnly === false && data.level !== "states";
  return (
    <g className={`hf-edge ${selected ? "selected" : ""}`} data-mark={data?.mark ?? undefined}>
      <BaseEdge id={id} path={path} interactionWidth={16} markerEnd={`url(#hf-arrow${selected ? "-selected" : ""})`} />
      {label ? (
        <g className="hf-edge-label" transform={`translate(${labelX} ${labelY})`}>
          <rect x={-width / 2} y={-9} width={width} height={18} rx={9} />
          <text textAnchor="middle" dominantBaseline="central">
            {label}
          </text>
        </g>
      ) : null}
      {mayInsert ? (
        // biome-ignore lint/a11y/useSemanticElements: an SVG group cannot contain a <button>
        <g
          className="hf-edge-add"
          transform={`translate(${middleX} ${label && Math.hypot(middleX - labelX, middleY - labelY) < 24 ? labelY + 22 : middleY})`}
          role="button"
          aria-label={t("insert")}
          onClick={(event) => {
            event.stopPropagation();
            insert(id, { x: event.clientX, y: event.clientY });
          }}
        >
          <circle r={9} />
          <path d="M-4 0h8M0-4v8" />
        </g>
      ) : null}
    </g>
  );
});

/** The label is placed at the source, because several connections may share a line further on. */
function besideSource(
  { sourceX, sourceY, sourcePosition }: EdgeProps<ConnectionEdge>,
  width: number,
): [number, number] {
  return sourcePosition === Position.Bottom ? [sourceX, sourceY + 12] : [sourceX + 6 + width / 2, sourceY];
}

/** A handle is a dot on the border of a card. The line starts and ends at the border itself. */
const INSET = 4;

function pathOf(props: EdgeProps<ConnectionEdge>, data: ConnectionData | undefined): [string, number, number] {
  const { source, target, sourcePosition, targetPosition } = props;
  const isDown = sourcePosition === Position.Bottom;
  const from = isDown ? { x: props.sourceX, y: props.sourceY - INSET } : { x: props.sourceX - INSET, y: props.sourceY };
  const to = isDown ? { x: props.targetX, y: props.targetY + INSET } : { x: props.targetX + INSET, y: props.targetY };
  if (source === target) return loop(from.x, from.y, to.x, to.y);
  const detour = data?.detour ?? null;
  if (detour !== null && near(detour.from, from) && near(detour.to, to)) {
    const { path, label } = detourPath(from, to, detour.channel, isDown ? "down" : "right");
    return [path, label.x, label.y];
  }
  const [path, x, y] = getSmoothStepPath({
    sourceX: from.x,
    sourceY: from.y,
    targetX: to.x,
    targetY: to.y,
    sourcePosition,
    targetPosition,
    borderRadius: 10,
    offset: 20,
  });
  return [path, x, y];
}

function near(one: { x: number; y: number }, other: { x: number; y: number }): boolean {
  return Math.abs(one.x - other.x) < 6 && Math.abs(one.y - other.y) < 6;
}

function loop(sourceX: number, sourceY: number, targetX: number, targetY: number): [string, number, number] {
  const side = Math.max(sourceX, targetX) + 140;
  return [
    `M${sourceX} ${sourceY} C${side} ${sourceY + 40} ${side} ${targetY - 40} ${targetX} ${targetY}`,
    side - 34,
    (sourceY + targetY) / 2,
  ];
}

export function Arrows() {
  return (
    <svg className="hf-arrows" aria-hidden="true">
      <defs>
        {["", "-selected"].map((kind) => (
          <marker
            key={kind}
            id={`hf-arrow${kind}`}
            className={`hf-arrow${kind}`}
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="8"
            markerHeight="8"
            orient="auto-start-reverse"
          >
            <path d="M1 1 7 4 1 7" />
          </marker>
        ))}
      </defs>
    </svg>
  );
}

/** Card of one activity. Memoized: renders only when its own data changes. */

import { Handle, type NodeProps, Position } from "@xyflow/react";
import { createContext, memo, useContext } from "react";
import { ActivityIcon } from "../catalogue/ActivityIcon";
import { defineMessages } from "../i18n/messages";
import type { Focus } from "../model/focus";
import type { GraphNode } from "../model/graph";
import type { Direction } from "../model/layout";
import { toneOf } from "../ui/Status";
import { type CardData, type CardNode, shareOf } from "./flowElements";

const t = defineMessages("card", {
  unknown: "Unknown type {type}",
  open: "Open {title}",
  addAfter: "Add after {outcome}",
  problem: "Has problems",
  warning: "Has warnings",
  comments: "{n|comment|comments}",
  starts: "Starts the workflow",
});

/** Actions that a card can request from the canvas. */
export interface CardActions {
  open(focus: Focus): void;
  quickAdd(id: string, outcome: string, at: { x: number; y: number }): void;
  comments(id: string): void;
}

export const CardActionsContext = createContext<CardActions | null>(null);

/** With more outcomes than this, or with a connected `Done`, unconnected outcomes are labelled only on hover. */
const MAX_NAMED_OUTCOMES = 2;

const DIFF_TONES: Readonly<Record<string, string>> = { added: "ok", removed: "bad", changed: "wait", moved: "run" };

export const toneOfMark = (status: string): string => DIFF_TONES[status] ?? toneOf(status);

export const Card = memo(function Card({ data, selected }: NodeProps<CardNode>) {
  const { node, direction, problem, mark } = data;
  const tone = mark === null ? "" : toneOfMark(mark.status);
  const names = [
    "hf-card",
    selected ? "selected" : "",
    node.unknown ? "unknown" : "",
    node.kind,
    problem ? `has-${problem}` : "",
  ];
  return (
    <div
      className={names.filter(Boolean).join(" ")}
      data-tone={tone || undefined}
      data-status={mark?.status}
      title={mark?.hint}
    >
      <Handle
        id="in"
        type="target"
        position={direction === "down" ? Position.Top : Position.Left}
        className="hf-in"
        isConnectable={!data.readOnly}
      />
      <div className="hf-card-head">
        <span className="hf-icon" data-trigger={node.trigger || undefined}>
          <ActivityIcon name={node.icon} />
        </span>
        <span className="hf-card-text">
          <span className="hf-title">{node.title}</span>
          <span
            className={`hf-summary ${node.summary && node.kind === "activity" ? "" : "faint"}`}
            title={node.summary}
          >
            {node.unknown ? t("unknown", { type: node.activity?.type ?? "" }) : node.summary || node.typeName}
          </span>
        </span>
        <Badges data={data} />
      </div>
      {node.chips.length > 0 ? <Chips data={data} /> : null}
      {(node.outcomes.length > 0 ? node.outcomes : ["Done"]).map((outcome, index, all) => (
        <Outcome key={outcome} data={data} outcome={outcome} share={shareOf(index, all.length)} />
      ))}
    </div>
  );
});

/**
 * Endpoints of connections on frames, which cannot be connected by hand. Unlike React Flow handles they have no
 * listeners.
 */
export function StaticHandles({ node, direction }: { node: GraphNode; direction: Direction }) {
  const isDown = direction === "down";
  const outcomes = node.outcomes.length > 0 ? node.outcomes : ["Done"];
  return (
    <>
      <i
        className="hf-static-handle target"
        data-handleid="in"
        data-nodeid={node.id}
        data-handlepos={isDown ? "top" : "left"}
        style={isDown ? { left: "50%", top: 0 } : { left: 0, top: "50%" }}
      />
      {outcomes.map((outcome, index) => {
        const share = `${shareOf(index, outcomes.length) * 100}%`;
        return (
          <i
            key={outcome}
            className="hf-static-handle source"
            data-handleid={outcome}
            data-nodeid={node.id}
            data-handlepos={isDown ? "bottom" : "right"}
            style={isDown ? { left: share, top: "100%" } : { left: "100%", top: share }}
          />
        );
      })}
    </>
  );
}

function Badges({ data }: { data: CardData }) {
  const { node, problem, mark } = data;
  const actions = useContext(CardActionsContext);
  return (
    <span className="hf-badges">
      {mark?.count !== undefined && mark.count > 1 ? <span className="hf-count">{mark.count}</span> : null}
      {problem ? (
        <span
          className={`hf-problem ${problem}`}
          role="img"
          aria-label={t(problem === "error" ? "problem" : "warning")}
        />
      ) : null}
      {node.comments > 0 ? (
        <button
          type="button"
          className="hf-comments nodrag"
          title={t("comments", { n: node.comments })}
          onClick={() => actions?.comments(node.id)}
        >
          {node.comments}
        </button>
      ) : null}
      {node.starts && node.kind === "activity" ? (
        <span className="hf-start" role="img" aria-label={t("starts")} title={t("starts")} />
      ) : null}
    </span>
  );
}

function Chips({ data }: { data: CardData }) {
  const actions = useContext(CardActionsContext);
  return (
    <div className="hf-chips">
      {data.node.chips.map((chip) => (
        <button
          key={`${chip.focus.port}/${chip.focus.index ?? ""}/${chip.focus.key ?? ""}`}
          type="button"
          className="hf-chip nodrag"
          data-empty={chip.count === 0 || undefined}
          title={t("open", { title: chip.title })}
          onClick={(event) => {
            event.stopPropagation();
            actions?.open(chip.focus);
          }}
        >
          <span className="clip">{chip.title}</span>
          <b>{chip.count || (data.readOnly ? "–" : "+")}</b>
        </button>
      ))}
    </div>
  );
}

function Outcome({ data, outcome, share }: { data: CardData; outcome: string; share: number }) {
  const { node, direction, level, readOnly } = data;
  const actions = useContext(CardActionsContext);
  const isOpen = !readOnly && node.outcomes.length > 0 && data.open.split("\n").includes(outcome);
  const style = direction === "down" ? { left: `${share * 100}%` } : { top: `${share * 100}%` };
  const isNamed = level === "flowchart" && node.outcomes.length > 1;
  const isQuiet =
    node.outcomes.length > MAX_NAMED_OUTCOMES ||
    (node.outcomes.includes("Done") && !data.open.split("\n").includes("Done"));
  return (
    <>
      <Handle
        id={outcome}
        type="source"
        position={direction === "down" ? Position.Bottom : Position.Right}
        className={`hf-out ${isOpen ? "open" : ""}`}
        style={style}
        isConnectable={!readOnly && (level === "flowchart" || level === "states") && node.outcomes.length > 0}
      />
      {isOpen ? (
        <button
          type="button"
          className={`hf-add nodrag nopan ${direction} ${isNamed ? "named" : ""} ${isQuiet ? "quiet" : ""}`}
          style={style}
          tabIndex={-1}
          aria-label={t("addAfter", { outcome })}
          onClick={(event) => {
            event.stopPropagation();
            actions?.quickAdd(node.id, outcome, { x: event.clientX, y: event.clientY });
          }}
        >
          {isNamed ? <span>{outcome}</span> : null}
          <i aria-hidden="true">+</i>
        </button>
      ) : null}
    </>
  );
}

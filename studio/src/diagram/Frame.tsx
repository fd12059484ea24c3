/** Frame of a container around its content, in a diagram of the whole workflow. */

import type { Node, NodeProps } from "@xyflow/react";
import { memo } from "react";
import { ActivityIcon } from "../catalogue/ActivityIcon";
import type { Box } from "../model/nestedLayout";
import { StaticHandles, toneOfMark } from "./Card";
import type { Mark } from "./flowElements";

export type FrameData = { readonly box: Box; readonly mark: Mark | null };
export type FrameNode = Node<FrameData, "frame">;

export const Frame = memo(function Frame({ data, selected }: NodeProps<FrameNode>) {
  const { box, mark } = data;
  const { node } = box;
  const tone = mark === null ? undefined : toneOfMark(mark.status);
  return (
    <div
      className={`hf-card hf-frame ${selected ? "selected" : ""} ${node.unknown ? "unknown" : ""}`}
      data-tone={tone}
      data-status={mark?.status}
      data-depth={box.depth % 2}
      title={mark?.hint}
    >
      <StaticHandles node={node} direction="down" />
      <div className="hf-card-head hf-frame-head">
        <span className="hf-icon">
          <ActivityIcon name={node.icon} />
        </span>
        <span className="hf-card-text">
          <span className="hf-title">{node.title}</span>
          <span className={`hf-summary ${node.summary ? "" : "faint"}`}>{node.summary || node.typeName}</span>
        </span>
        {mark?.count !== undefined && mark.count > 1 ? <span className="hf-count">{mark.count}</span> : null}
      </div>
      {box.lanes.map((lane) => (
        <span key={lane.x} className="hf-lane" style={{ left: lane.x, width: lane.width }}>
          {lane.title}
        </span>
      ))}
    </div>
  );
});

/** All connections of a big workflow seen from afar, as one line: a thousand single ones would be slow to draw. */

import { ViewportPortal } from "@xyflow/react";
import { useMemo } from "react";
import type { AnyNode, WayEdge } from "./nodes";

export function FarWays({ nodes, edges }: { nodes: readonly AnyNode[]; edges: readonly WayEdge[] }) {
  const path = useMemo(() => {
    const places = new Map(nodes.map((node) => [node.id, node]));
    const parts: string[] = [];
    for (const edge of edges) {
      const source = places.get(edge.source);
      const target = places.get(edge.target);
      if (source === undefined || target === undefined) continue;
      const from = { x: source.position.x + (source.width ?? 0) / 2, y: source.position.y + (source.height ?? 0) };
      parts.push(`M${from.x} ${from.y}L${target.position.x + (target.width ?? 0) / 2} ${target.position.y}`);
    }
    return parts.join("");
  }, [nodes, edges]);
  return (
    <ViewportPortal>
      <svg className="hf-far-ways" aria-hidden="true">
        <path d={path} />
      </svg>
    </ViewportPortal>
  );
}

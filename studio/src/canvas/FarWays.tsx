/**
 * All connections of a big workflow seen from afar, as one line: a thousand single ones would be slow to draw.
 *
 * Those of cards that are being dragged are a second line, so that a drag draws only these again.
 */

import { ViewportPortal } from "@xyflow/react";
import { useMemo } from "react";
import type { Point } from "../model/graph";
import type { AnyNode, WayEdge } from "./nodes";

interface FarWaysProps {
  readonly nodes: readonly AnyNode[];
  readonly edges: readonly WayEdge[];
  /** Where the cards stand when nobody drags. */
  readonly places: ReadonlyMap<string, Point>;
}

export function FarWays({ nodes, edges, places }: FarWaysProps) {
  const moved = useMemo(() => {
    const away = nodes.filter((node) => {
      const home = places.get(node.id);
      return home !== undefined && (home.x !== node.position.x || home.y !== node.position.y);
    });
    return new Map(away.map((node) => [node.id, node.position]));
  }, [nodes, places]);
  const key = [...moved.keys()].join("\n");
  const sizes = useMemo(() => new Map(nodes.map((node) => [node.id, { width: node.width ?? 0, height: node.height ?? 0 }])), [nodes.length, places]);
  const still = useMemo(() => {
    const away = new Set(key.split("\n"));
    return lines(edges.filter((edge) => !away.has(edge.source) && !away.has(edge.target)), places, sizes);
  }, [edges, places, sizes, key]);
  const moving = useMemo(() => {
    if (moved.size === 0) return "";
    const touched = edges.filter((edge) => moved.has(edge.source) || moved.has(edge.target));
    return lines(touched, { get: (id) => moved.get(id) ?? places.get(id) }, sizes);
  }, [edges, moved, places, sizes]);
  return (
    <ViewportPortal>
      <svg className="hf-far-ways" aria-hidden="true">
        <path d={still} />
      </svg>
      {moving ? (
        <svg className="hf-far-ways" aria-hidden="true">
          <path d={moving} />
        </svg>
      ) : null}
    </ViewportPortal>
  );
}

type Lookup<T> = { get(id: string): T | undefined };

function lines(edges: readonly WayEdge[], places: Lookup<Point>, sizes: Lookup<{ width: number; height: number }>): string {
  const parts: string[] = [];
  for (const edge of edges) {
    const [from, to] = [places.get(edge.source), places.get(edge.target)];
    const [one, other] = [sizes.get(edge.source), sizes.get(edge.target)];
    if (!from || !to || !one || !other) continue;
    parts.push(`M${from.x + one.width / 2} ${from.y + one.height}L${to.x + other.width / 2} ${to.y}`);
  }
  return parts.join("");
}

/** Placeholder until the canvas lands: the shape that pages rely on. */
export type GraphViewProps = {
  document: Record<string, unknown>;
  statuses?: Record<string, { status: string; count: number }>;
  selected?: string | null;
  onSelect?: (id: string | null) => void;
};

export function GraphView(_: GraphViewProps) {
  return null;
}

export function NodesPage() { return null; }

export function TriggersPage() { return null; }

export function AlterationsPage() { return null; }

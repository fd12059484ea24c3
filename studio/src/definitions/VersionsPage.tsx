export function VersionsPage() { return null; }

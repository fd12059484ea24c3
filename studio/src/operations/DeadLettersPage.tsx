export function DeadLettersPage() { return null; }

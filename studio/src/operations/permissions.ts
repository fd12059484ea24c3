/** All permissions known to the server. */
export const PERMISSIONS: readonly string[] = [
  "definitions:read",
  "definitions:write",
  "definitions:publish",
  "definitions:execute",
  "instances:read",
  "instances:write",
  "instances:delete",
  "tasks:read",
  "tasks:complete",
  "events:send",
  "operations:read",
  "operations:write",
  "settings:read",
  "users:read",
  "users:write",
];

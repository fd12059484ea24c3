/** Pages of the Studio: the single source for navigation, command palette and permissions. */

import { defineMessages } from "../i18n/messages";
import type { IconName } from "../ui/Icon";

export const t = defineMessages("pages", {
  work: "Work",
  operate: "Operate",
  manage: "Manage",
  dashboard: "Dashboard",
  definitions: "Definitions",
  instances: "Instances",
  tasks: "Tasks",
  schedules: "Schedules",
  triggers: "Triggers",
  deadLetters: "Dead letters",
  alterations: "Alterations",
  nodes: "Nodes",
  users: "Users",
  roles: "Roles",
  apiKeys: "API keys",
  settings: "Settings",
});

export type StudioPage = {
  path: string;
  name: Parameters<typeof t>[0];
  icon: IconName;
  group: "work" | "operate" | "manage";
  needs: string;
  keys: string;
};

export const PAGES: readonly StudioPage[] = [
  { path: "/dashboard", name: "dashboard", icon: "dashboard", group: "work", needs: "operations:read", keys: "g h" },
  { path: "/definitions", name: "definitions", icon: "flow", group: "work", needs: "definitions:read", keys: "g d" },
  { path: "/instances", name: "instances", icon: "list", group: "work", needs: "instances:read", keys: "g i" },
  { path: "/tasks", name: "tasks", icon: "inbox", group: "work", needs: "tasks:read", keys: "g t" },
  { path: "/schedules", name: "schedules", icon: "clock", group: "operate", needs: "operations:read", keys: "g s" },
  { path: "/triggers", name: "triggers", icon: "bolt", group: "operate", needs: "operations:read", keys: "g r" },
  {
    path: "/dead-letters",
    name: "deadLetters",
    icon: "alert",
    group: "operate",
    needs: "operations:read",
    keys: "g l",
  },
  { path: "/alterations", name: "alterations", icon: "wand", group: "operate", needs: "operations:read", keys: "g a" },
  { path: "/nodes", name: "nodes", icon: "node", group: "operate", needs: "operations:read", keys: "g n" },
  { path: "/users", name: "users", icon: "user", group: "manage", needs: "users:read", keys: "g u" },
  { path: "/roles", name: "roles", icon: "lock", group: "manage", needs: "users:read", keys: "g o" },
  { path: "/api-keys", name: "apiKeys", icon: "key", group: "manage", needs: "users:read", keys: "g k" },
  { path: "/settings", name: "settings", icon: "settings", group: "manage", needs: "settings:read", keys: "g ," },
];

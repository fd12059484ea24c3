import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { basePath } from "../api/config";
import { allowed, useSession } from "../api/session";
import { readSearch } from "../navigation/filters";
import { PAGES } from "../navigation/pages";
import { Failed } from "../ui";
import { NotFound } from "./NotFound";
import { PluginPage } from "./PluginPage";
import { Shell } from "./Shell";

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: ({ error }) => <Failed error={error} retry={() => location.reload()} />,
});

/** Redirects to the first page that the user may see. */
const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    const permissions = useSession.getState().me?.permissions;
    const wanted = ["/definitions", ...PAGES.map((place) => place.path)];
    const first = permissions
      ? wanted.find((path) => PAGES.some((place) => place.path === path && allowed(permissions, place.needs)))
      : undefined;
    throw redirect({ to: first ?? "/definitions" });
  },
});

const definitions = createRoute({
  getParentRoute: () => root,
  path: "/definitions",
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import("../definitions/DefinitionsPage"), "DefinitionsPage"),
});

const designer = createRoute({
  getParentRoute: () => root,
  path: "/definitions/$id",
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import("../designer/DesignerPage"), "DesignerPage"),
});

const versions = createRoute({
  getParentRoute: () => root,
  path: "/definitions/$id/versions",
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import("../definitions/VersionsPage"), "VersionsPage"),
});

const instances = createRoute({
  getParentRoute: () => root,
  path: "/instances",
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import("../instances/InstancesPage"), "InstancesPage"),
});

const instance = createRoute({
  getParentRoute: () => root,
  path: "/instances/$id",
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import("../instances/InstancePage"), "InstancePage"),
});

const tasks = createRoute({
  getParentRoute: () => root,
  path: "/tasks",
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import("../tasks/TasksPage"), "TasksPage"),
});

const dashboard = createRoute({
  getParentRoute: () => root,
  path: "/dashboard",
  component: lazyRouteComponent(() => import("../operations/DashboardPage"), "DashboardPage"),
});

const schedules = createRoute({
  getParentRoute: () => root,
  path: "/schedules",
  component: lazyRouteComponent(() => import("../operations/SchedulesPage"), "SchedulesPage"),
});

const triggers = createRoute({
  getParentRoute: () => root,
  path: "/triggers",
  component: lazyRouteComponent(() => import("../operations/TriggersPage"), "TriggersPage"),
});

const deadLetters = createRoute({
  getParentRoute: () => root,
  path: "/dead-letters",
  component: lazyRouteComponent(() => import("../operations/DeadLettersPage"), "DeadLettersPage"),
});

const nodes = createRoute({
  getParentRoute: () => root,
  path: "/nodes",
  component: lazyRouteComponent(() => import("../operations/NodesPage"), "NodesPage"),
});

const alterations = createRoute({
  getParentRoute: () => root,
  path: "/alterations",
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import("../operations/AlterationsPage"), "AlterationsPage"),
});

const users = createRoute({
  getParentRoute: () => root,
  path: "/users",
  component: lazyRouteComponent(() => import("../operations/UsersPage"), "UsersPage"),
});

const roles = createRoute({
  getParentRoute: () => root,
  path: "/roles",
  component: lazyRouteComponent(() => import("../operations/RolesPage"), "RolesPage"),
});

const apiKeys = createRoute({
  getParentRoute: () => root,
  path: "/api-keys",
  component: lazyRouteComponent(() => import("../operations/ApiKeysPage"), "ApiKeysPage"),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  component: lazyRouteComponent(() => import("../operations/SettingsPage"), "SettingsPage"),
});

const plugin = createRoute({ getParentRoute: () => root, path: "/plugins/$path", component: PluginPage });

const tree = root.addChildren([
  home,
  definitions,
  designer,
  versions,
  instances,
  instance,
  tasks,
  dashboard,
  schedules,
  triggers,
  deadLetters,
  nodes,
  alterations,
  users,
  roles,
  apiKeys,
  settings,
  plugin,
]);

export const makeRouter = () => {
  return createRouter({
    routeTree: tree,
    basepath: basePath(),
    defaultPreload: "intent",
    defaultNotFoundComponent: NotFound,
    defaultPendingMinMs: 0,
    scrollRestoration: true,
  });
};

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}

import "./ui/styles.css";
import "./app/shell.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { loadConfig } from "./api/config";
import { queryClient } from "./api/queries";
import { loadMe } from "./api/session";
import { makeRouter } from "./app/router";
import { loadPlugins } from "./plugins/registry";
import { Failed } from "./ui";
import { startTheme } from "./ui/theme";

startTheme();

async function start(place: HTMLElement): Promise<void> {
  const page = createRoot(place);
  try {
    const config = await loadConfig();
    await Promise.all([loadMe(), loadPlugins(config.plugins)]);
    const router = makeRouter();
    page.render(
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>,
    );
  } catch (error) {
    page.render(<Failed error={error} retry={() => location.reload()} />);
  }
}

const place = document.getElementById("root");
if (place) void start(place);

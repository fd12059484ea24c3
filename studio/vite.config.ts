/// <reference types="vitest/config" />
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { compress } from "./compress.ts";

// `base: "./"` and the `<base>` tag of index.html make the build independent of its path and origin: the server rewrites
// only that tag. `npm run dev` forwards API calls to a server on the default port.
const server = process.env.STUDIO_API ?? "http://127.0.0.1:8600";

export default defineConfig({
  base: "./",
  plugins: [react(), compress()],
  build: {
    outDir: "../src/holdfast/server/studio",
    emptyOutDir: true,
    target: "es2022",
    chunkSizeWarningLimit: 700,
  },
  server: {
    proxy: {
      "/api": { target: server, ws: true },
      "/workflows": server,
      "/config.json": server,
    },
  },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}"],
    // Property-based tests are slow on a busy machine.
    testTimeout: 60_000,
  },
});

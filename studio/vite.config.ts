/// <reference types="vitest/config" />
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { compress } from "./compress.ts";

// `base: "./"` with the `<base>` of index.html: the same build runs under any path and on any origin; the server only
// rewrites that one tag. `npm run dev` sends calls on to a server on the usual port.
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
    // Properties take their time on a busy machine; nothing is measured here.
    testTimeout: 60_000,
  },
});

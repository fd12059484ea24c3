/** Structure of the source tree: imports between the folders of `src` point one way. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";
import { expect, it } from "vitest";

const ROOT = import.meta.dirname;
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]*)"/g;

/** Folder of a file below `src`; files of `src` itself (`main.tsx`) belong to no folder. */
const folderOf = (file: string): string | null => {
  const [folder, ...rest] = file.split(sep);
  return folder === undefined || rest.length === 0 ? null : folder;
};

/** Each folder with the folders it imports, and one import statement as the example for each. */
function folderGraph(): Map<string, Map<string, string>> {
  const graph = new Map<string, Map<string, string>>();
  const files = readdirSync(ROOT, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file));
  for (const file of files) {
    const from = folderOf(file);
    if (from === null) continue;
    const targets = graph.get(from) ?? new Map<string, string>();
    graph.set(from, targets);
    for (const [, path = ""] of readFileSync(join(ROOT, file), "utf8").matchAll(IMPORT)) {
      const to = folderOf(join(normalize(join(dirname(file), path)), "."));
      if (to !== null && to !== from && !targets.has(to)) targets.set(to, `${file} imports ${path}`);
    }
  }
  return graph;
}

/** Every folder that can be reached from a folder by imports. */
function reachable(graph: ReadonlyMap<string, ReadonlyMap<string, string>>, start: string): Set<string> {
  const found = new Set<string>();
  const waiting = [start];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const next of graph.get(folder)?.keys() ?? []) {
      if (found.has(next)) continue;
      found.add(next);
      waiting.push(next);
    }
  }
  return found;
}

const graph = folderGraph();

it("reads the imports of every folder", () => {
  expect(graph.size).toBeGreaterThan(10);
  expect(graph.get("designer")?.has("model")).toBe(true);
});

it("has no import cycle between folders", () => {
  const reach = new Map([...graph.keys()].map((folder) => [folder, reachable(graph, folder)]));
  const cyclic = [...graph].flatMap(([from, targets]) =>
    [...targets].filter(([to]) => reach.get(to)?.has(from)).map(([, example]) => example),
  );
  expect(cyclic).toEqual([]);
});

it("keeps the shared layers free of pages", () => {
  expect([...(graph.get("ui")?.keys() ?? [])].sort()).toEqual(["api", "i18n"]);
  expect([...(graph.get("model")?.keys() ?? [])]).toEqual([]);
  expect([...(graph.get("editor")?.keys() ?? [])]).toEqual(["model"]);
});

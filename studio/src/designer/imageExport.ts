/** Export of the diagram as SVG or PNG, made from the graph and independent of zoom. */

import { iconPath } from "../catalogue/ActivityIcon";
import { shareOf } from "../diagram/flowElements";
import type { LevelKind } from "../model/focus";
import type { Graph, GraphNode, Point } from "../model/graph";
import { handleOf } from "../model/graph";
import { type Direction, sizeOf } from "../model/layout";
import { detourPath, detours, rounded } from "../model/routing";

export interface Palette {
  readonly ground: string;
  readonly surface: string;
  readonly line: string;
  readonly strong: string;
  readonly text: string;
  readonly soft: string;
  readonly accent: string;
  readonly accentSoft: string;
  readonly note: string;
}

/** Colours of the current theme. */
export function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  return {
    ground: read("--canvas"),
    surface: read("--surface"),
    line: read("--line"),
    strong: read("--line-strong"),
    text: read("--text"),
    soft: read("--text-2"),
    accent: read("--accent-text"),
    accentSoft: read("--accent-soft"),
    note: read("--wait-soft"),
  };
}

export interface Picture {
  readonly graph: Graph;
  readonly level: LevelKind;
  readonly places: ReadonlyMap<string, Point>;
  readonly direction: Direction;
}

const MARGIN = 40;

export function toSvg(picture: Picture, palette: Palette): { svg: string; width: number; height: number } {
  const { graph, places, direction } = picture;
  const boxes = graph.nodes.map((node) => ({
    node,
    at: places.get(node.id) ?? { x: 0, y: 0 },
    size: sizeOf(node, direction),
  }));
  const all = [...boxes.map(({ at, size }) => ({ ...at, ...size })), ...graph.notes];
  const left = Math.min(0, ...all.map((box) => box.x)) - MARGIN;
  const top = Math.min(0, ...all.map((box) => box.y)) - MARGIN;
  const width = Math.max(...all.map((box) => box.x + box.width), 200) - left + MARGIN;
  const height = Math.max(...all.map((box) => box.y + box.height), 100) - top + MARGIN;
  const around = detours(graph, places, direction);
  const parts = [
    `<rect x="${left}" y="${top}" width="${width}" height="${height}" fill="${palette.ground}"/>`,
    ...graph.notes.map((note) => noteSvg(note, palette)),
    ...graph.edges.map((edge) => {
      const from = boxes.find(({ node }) => node.id === edge.source);
      const to = boxes.find(({ node }) => node.id === edge.target);
      if (from === undefined || to === undefined) return "";
      const names = from.node.outcomes.length > 0 ? from.node.outcomes : ["Done"];
      const share = shareOf(Math.max(0, names.indexOf(handleOf(edge.outcome, names))), names.length);
      return edgeSvg(from, to, share, edge.label, picture.level, direction, palette, around.get(edge.id)?.channel);
    }),
    ...boxes.map(({ node, at, size }) => cardSvg(node, at, size, palette)),
  ];
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${left} ${top} ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="13">`,
    `<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M1 1 7 4 1 7" fill="none" stroke="${palette.strong}" stroke-width="1.4"/></marker></defs>`,
    ...parts,
    "</svg>",
  ].join("\n");
  return { svg, width, height };
}

function cardSvg(node: GraphNode, at: Point, size: { width: number; height: number }, palette: Palette): string {
  const summary = node.summary || node.typeName;
  const chips = node.chips.map((chip) => `${chip.title} ${chip.count || "–"}`).join("   ");
  return [
    `<g transform="translate(${at.x} ${at.y})">`,
    `<rect width="${size.width}" height="${size.height}" rx="${node.kind === "state" ? 18 : 10}" fill="${palette.surface}" stroke="${palette.line}"/>`,
    `<rect x="10" y="11" width="34" height="34" rx="9" fill="${palette.accentSoft}"/>`,
    `<path transform="translate(19 20)" d="${iconPath(node.icon)}" fill="none" stroke="${palette.accent}" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round"/>`,
    `<text x="54" y="${summary ? 25 : 33}" font-weight="600" fill="${palette.text}">${escapeXml(cut(node.title, 24))}</text>`,
    summary
      ? `<text x="54" y="42" font-size="11" fill="${palette.soft}" font-family="ui-monospace, monospace">${escapeXml(cut(summary, 25))}</text>`
      : "",
    chips ? `<text x="12" y="74" font-size="11" fill="${palette.soft}">${escapeXml(cut(chips, 36))}</text>` : "",
    "</g>",
  ].join("");
}

interface Box {
  readonly at: Point;
  readonly size: { readonly width: number; readonly height: number };
}

function edgeSvg(
  from: Box,
  to: Box,
  share: number,
  label: string,
  level: LevelKind,
  direction: Direction,
  palette: Palette,
  channel: number | undefined,
): string {
  const isDown = direction === "down";
  const start = isDown
    ? { x: from.at.x + from.size.width * share, y: from.at.y + from.size.height }
    : { x: from.at.x + from.size.width, y: from.at.y + from.size.height * share };
  const end = isDown ? { x: to.at.x + to.size.width / 2, y: to.at.y } : { x: to.at.x, y: to.at.y + to.size.height / 2 };
  const step = { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 };
  const corners = isDown
    ? [start, { x: start.x, y: step.y }, { x: end.x, y: step.y }, end]
    : [start, { x: step.x, y: start.y }, { x: step.x, y: end.y }, end];
  const { path, label: middle } =
    channel === undefined ? { path: rounded(corners), label: step } : detourPath(start, end, channel, direction);
  const width = label.length * 6.2 + 12;
  const beside = isDown ? { x: start.x, y: start.y + 16 } : { x: start.x + 10 + width / 2, y: start.y };
  const named = level === "states" ? middle : beside;
  const name = label
    ? `<rect x="${named.x - width / 2}" y="${named.y - 9}" width="${width}" height="18" rx="9" fill="${palette.ground}"/><text x="${named.x}" y="${named.y + 4}" text-anchor="middle" font-size="11" fill="${palette.soft}">${escapeXml(label)}</text>`
    : "";
  return `<path d="${path}" fill="none" stroke="${palette.strong}" stroke-width="1.5" marker-end="url(#a)"/>${name}`;
}

function noteSvg(
  note: { x: number; y: number; width: number; height: number; text: string },
  palette: Palette,
): string {
  const lines = note.text.split("\n").flatMap((line) => line.match(/.{1,30}(\s|$)|\S+/g) ?? [""]);
  const text = lines
    .map((line, index) => `<tspan x="${note.x + 12}" y="${note.y + 24 + index * 18}">${escapeXml(line.trim())}</tspan>`)
    .join("");
  return `<rect x="${note.x}" y="${note.y}" width="${note.width}" height="${note.height}" rx="4" fill="${palette.note}"/><text font-size="12" fill="${palette.text}">${text}</text>`;
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

export async function toPng({ svg, width, height }: { svg: string; width: number; height: number }): Promise<Blob> {
  const image = new Image();
  const scale = Math.min(2, 8_000 / Math.max(width, height));
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(width * scale);
  canvas.height = Math.ceil(height * scale);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error("The browser could not create the image.")) : resolve(blob)),
      "image/png",
    ),
  );
}

/**
 * Bar chart of started, finished and faulted instances per hour or day. Plain SVG: a chart library would be larger
 * than the page.
 */
import type { Statistics } from "../api/types";
import { defineMessages } from "../i18n/messages";

const t = defineMessages("chart", {
  label: "Throughput: {started} started, {finished} finished, {faulted} faulted",
  started: "Started",
  finished: "Finished",
  faulted: "Faulted",
  point: "{when}: {started} started, {finished} finished, {faulted} faulted",
});

type Point = Statistics["throughput"][number];

const WIDTH = 720;
const HEIGHT = 200;
const LEFT = 32;
const BOTTOM = 24;
const SERIES = [
  ["started", "var(--run)"],
  ["finished", "var(--ok)"],
  ["faulted", "var(--bad)"],
] as const;

/** Label below the bars. A label near the edge is right-aligned so that it is not cut off. */
const labelPlace = (x: number): { x: number; textAnchor: "middle" | "end" } =>
  x > WIDTH - 24 ? { x: WIDTH, textAnchor: "end" } : { x, textAnchor: "middle" };

export function ThroughputChart({ points, interval }: { points: readonly Point[]; interval: "hour" | "day" }) {
  const most = roundUp(Math.max(2, ...points.flatMap((point) => [point.started, point.finished, point.faulted])));
  const step = (WIDTH - LEFT) / Math.max(1, points.length);
  const bar = Math.max(1.5, Math.min(8, (step - 3) / 3));
  const y = (value: number): number => 8 + (HEIGHT - BOTTOM - 8) * (1 - value / most);
  const sum = (key: "started" | "finished" | "faulted"): number => points.reduce((all, point) => all + point[key], 0);
  const every = Math.max(1, Math.ceil(points.length / 8));
  return (
    <>
      <svg
        className="chart"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t("label", { started: sum("started"), finished: sum("finished"), faulted: sum("faulted") })}
      >
        {[0, most / 2, most].map((value) => (
          <g key={value}>
            <line className="grid" x1={LEFT} x2={WIDTH} y1={y(value)} y2={y(value)} />
            <text x={LEFT - 6} y={y(value) + 4} textAnchor="end">
              {Math.round(value)}
            </text>
          </g>
        ))}
        {points.map((point, index) => (
          <g key={point.hour}>
            <title>
              {t("point", {
                when: when(point.hour, interval),
                started: point.started,
                finished: point.finished,
                faulted: point.faulted,
              })}
            </title>
            <rect x={LEFT + index * step} y={8} width={step} height={HEIGHT - BOTTOM - 8} fill="transparent" />
            {SERIES.map(([key, colour], at) => (
              <rect
                key={key}
                x={LEFT + index * step + (step - 3 * bar) / 2 + at * bar}
                y={y(point[key])}
                width={bar - 0.5}
                height={Math.max(0, y(0) - y(point[key]))}
                fill={colour}
                rx={1}
              />
            ))}
            {index % every === 0 ? (
              <text {...labelPlace(LEFT + index * step + step / 2)} y={HEIGHT - 6}>
                {when(point.hour, interval)}
              </text>
            ) : null}
          </g>
        ))}
      </svg>
      <div className="row" style={{ gap: 16 }}>
        {SERIES.map(([key, colour]) => (
          <span key={key} className="legend">
            <i style={{ background: colour }} />
            {t(key)} {sum(key)}
          </span>
        ))}
      </div>
    </>
  );
}

export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? value;
}

const when = (at: string, interval: "hour" | "day"): string =>
  interval === "hour"
    ? new Date(at).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", hour12: false })
    : new Date(at).toLocaleDateString(undefined, { month: "short", day: "numeric" });

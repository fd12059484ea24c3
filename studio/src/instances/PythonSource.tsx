import { useMemo } from "react";
import { ScrollRegion } from "../ui";
import { t } from "./instanceMessages";
import "./pythonSource.css";

type InstanceRow = { activity: string; line: number };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Source text of a workflow written as a Python function: `metadata.source`. */
const sourceOf = (document: Record<string, unknown>): string | null => {
  const metadata = document.metadata;
  const source = isObject(metadata) ? metadata.source : undefined;
  if (typeof source === "string") return source;
  return isObject(source) && typeof source.text === "string" ? source.text : null;
};

/** Line number of the first source line in its file. Activities refer to lines of the file. */
const firstLineOf = (document: Record<string, unknown>): number => {
  const metadata = document.metadata;
  const source = isObject(metadata) ? metadata.source : undefined;
  return isObject(source) && typeof source.line === "number" ? source.line : 1;
};

export const hasSource = (document: Record<string, unknown>): boolean => sourceOf(document) !== null;

function linesOf(document: Record<string, unknown>): InstanceRow[] {
  const found: InstanceRow[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (isObject(value)) {
      const metadata = value.metadata;
      const line = isObject(metadata) ? metadata.line : undefined;
      if (typeof value.id === "string" && typeof line === "number") found.push({ activity: value.id, line });
      Object.values(value).forEach(visit);
    }
  };
  visit(document.root);
  return found;
}

export function PythonSource({ document, here }: { document: Record<string, unknown>; here: string | null }) {
  const first = firstLineOf(document);
  const lines = useMemo(
    () => (sourceOf(document) ?? "").split("\n").map((text, index) => ({ number: index + first, text })),
    [document, first],
  );
  const places = useMemo(() => linesOf(document), [document]);
  const current = places.find((place) => place.activity === here)?.line;
  return (
    <ScrollRegion className="source-lines mono" label={t("source")}>
      {lines.map(({ number, text }) => (
        <div
          key={number}
          className={number === current ? "here" : ""}
          aria-current={number === current ? "true" : undefined}
        >
          <span className="number">{number}</span>
          {text || " "}
        </div>
      ))}
    </ScrollRegion>
  );
}

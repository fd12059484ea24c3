import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { definitions } from "../api/queries";
import type { Change, DefinitionDiff, Document, FieldChange } from "../api/types";
import { useActivityNames } from "../catalogue/activityNames";
import { DiffGraph } from "../diagram/DiffGraph";
import { GraphView } from "../diagram/GraphView";
import { defineMessages } from "../i18n/messages";
import { Badge, QueryView, ScrollRegion, type Tone, valueText } from "../ui";

const t = defineMessages("compare", {
  version: "Version {n}",
  same: "The versions are equivalent.",
  what: "Element",
  change: "Change",
  before: "Before",
  after: "After",
  added: "Added",
  removed: "Removed",
  changed: "Changed",
  moved: "Moved",
  activity: "Activity {name}",
  connection: "Connection {from} → {to}",
  variable: "Variable {name}",
  input: "Input {name}",
  output: "Output {name}",
  setting: "Setting {name}",
  changes: "Changes",
});

const TONES: Record<Change, Tone> = { added: "ok", removed: "bad", changed: "wait", moved: "off" };

type Line = { what: string; change: Change; activity: string | null; fields: FieldChange[] };

/** Two diagrams side by side with the differences marked, and a table of all differences. */
export function VersionDiff({ id, from, to, one }: { id: string; from: number; to: number; one: boolean }) {
  const diff = useQuery(definitions.diff(id, from, to));
  const before = useQuery(definitions.one(id, from));
  const after = useQuery(definitions.one(id, to));
  const [selected, setSelected] = useState<string | null>(null);
  if (one && before.data && after.data) return <DiffGraph before={before.data.document} after={after.data.document} />;
  return (
    <QueryView query={diff}>
      {(data) => (
        <div className="diff">
          <div className="sides">
            <Side
              version={from}
              document={before.data?.document}
              diff={data}
              old
              selected={selected}
              onSelect={setSelected}
            />
            <Side version={to} document={after.data?.document} diff={data} selected={selected} onSelect={setSelected} />
          </div>
          <ChangesWithNames
            diff={data}
            before={before.data?.document}
            after={after.data?.document}
            onSelect={setSelected}
          />
        </div>
      )}
    </QueryView>
  );
}

type ChangesWithNamesProps = {
  diff: DefinitionDiff;
  before: Document | undefined;
  after: Document | undefined;
  onSelect: (id: string | null) => void;
};

const NOTHING: Document = { root: { id: "root", type: "Sequence" } };

/** Removed activities keep their old names. */
function ChangesWithNames({ diff, before, after, onSelect }: ChangesWithNamesProps) {
  const then = useActivityNames(before ?? NOTHING);
  const now = useActivityNames(after ?? NOTHING);
  const nameOf = (id: string): string => (now.has(id) ? now.of(id) : then.of(id));
  return <Changes lines={linesOf(diff, nameOf)} onSelect={onSelect} />;
}

type SideProps = {
  version: number;
  document: Record<string, unknown> | undefined;
  diff: DefinitionDiff;
  old?: boolean;
  selected: string | null;
  onSelect: (id: string | null) => void;
};

function Side({ version, document, diff, old, selected, onSelect }: SideProps) {
  const statuses = useMemo(() => marks(diff, old ?? false), [diff, old]);
  const edges = useMemo(() => edgeMarks(diff, old ?? false), [diff, old]);
  return (
    <figure>
      <figcaption>
        <Badge>{t("version", { n: version })}</Badge>
      </figcaption>
      {document ? (
        <GraphView document={document} statuses={statuses} edgeMarks={edges} selected={selected} onSelect={onSelect} />
      ) : null}
    </figure>
  );
}

/** Changes marked on the older and on the newer diagram. */
const isMarkedOn = (change: Change, old: boolean): boolean =>
  change === "changed" || change === (old ? "removed" : "added");

const marks = (diff: DefinitionDiff, old: boolean): Record<string, { status: string; count: number }> =>
  Object.fromEntries(
    diff.activities
      .filter((one) => isMarkedOn(one.change, old))
      .map((one) => [one.id, { status: one.change, count: 0 }]),
  );

const edgeMarks = (diff: DefinitionDiff, old: boolean): Record<string, string> =>
  Object.fromEntries(
    diff.connections
      .filter((one) => one.change === (old ? "removed" : "added"))
      .map((one) => [`${one.from}|${one.outcome ?? "Done"}|${one.to}`, one.change]),
  );

/** Shows the source of an expression without its language. */
function expressionText(value: unknown): string {
  if (typeof value === "object" && value !== null) {
    const [only, ...others] = Object.entries(value);
    if (only && others.length === 0 && only[0].startsWith("$") && typeof only[1] === "string") return only[1];
  }
  return valueText(value);
}

export function linesOf(diff: DefinitionDiff, nameOf: (id: string) => string): Line[] {
  return [
    ...diff.activities.map((one) => ({
      what: t("activity", { name: nameOf(one.id) }),
      change: one.change,
      activity: one.id,
      fields: one.fields,
    })),
    ...diff.connections.map((one) => ({
      what: t("connection", {
        from: one.outcome ? `${nameOf(one.from)} (${one.outcome})` : nameOf(one.from),
        to: nameOf(one.to),
      }),
      change: one.change,
      activity: one.from,
      fields: one.fields,
    })),
    ...diff.variables.map((one) => ({
      what: t("variable", { name: one.name }),
      change: one.change,
      activity: null,
      fields: one.fields,
    })),
    ...diff.inputs.map((one) => ({
      what: t("input", { name: one.name }),
      change: one.change,
      activity: null,
      fields: one.fields,
    })),
    ...diff.outputs.map((one) => ({
      what: t("output", { name: one.name }),
      change: one.change,
      activity: null,
      fields: one.fields,
    })),
    ...diff.settings.map((one) => ({
      what: t("setting", { name: one.path }),
      change: "changed" as const,
      activity: null,
      fields: [{ ...one, path: "" }],
    })),
  ];
}

function ChangeSubject({ line, onSelect }: { line: Line; onSelect: (id: string | null) => void }) {
  if (line.activity === null) return line.what;
  return (
    <button type="button" className="linkish" onClick={() => onSelect(line.activity)}>
      {line.what}
    </button>
  );
}

function Changes({ lines, onSelect }: { lines: readonly Line[]; onSelect: (id: string | null) => void }) {
  if (lines.length === 0) return <div className="changes quiet">{t("same")}</div>;
  return (
    <ScrollRegion className="changes" label={t("changes")}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("what")}</th>
            <th scope="col">{t("change")}</th>
            <th scope="col">{t("before")}</th>
            <th scope="col">{t("after")}</th>
          </tr>
        </thead>
        <tbody>
          {lines.flatMap((line) =>
            (line.fields.length > 0 ? line.fields : [null]).map((field, at) => (
              <tr key={`${line.what} ${line.change} ${field?.path ?? ""}`}>
                <td>
                  {at === 0 ? <ChangeSubject line={line} onSelect={onSelect} /> : ""}
                  {field?.path ? <span className="faint"> {field.path}</span> : null}
                </td>
                <td>{at === 0 ? <Badge tone={TONES[line.change]}>{t(line.change)}</Badge> : null}</td>
                <td className="value">
                  {field?.before !== undefined && field.before !== null ? (
                    <del>{expressionText(field.before)}</del>
                  ) : null}
                </td>
                <td className="value">
                  {field?.after !== undefined && field.after !== null ? <ins>{expressionText(field.after)}</ins> : null}
                </td>
              </tr>
            )),
          )}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

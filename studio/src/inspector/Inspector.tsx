/** Inspector: panel for the current selection. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { instances } from "../api/queries";
import * as commands from "../editor/commands";
import { useEditor, useEditorSession } from "../editor/useEditor";
import { defineMessages } from "../i18n/messages";
import { outcomesOf } from "../model/descriptors";
import { findActivity } from "../model/document";
import { levelOf } from "../model/focus";
import { STATE } from "../model/graph";
import type { Problem } from "../model/validate";
import { Button, Dialog, SelectField, StatusBadge, TextField, Timestamp, toast } from "../ui";
import { ActivityPanel } from "./ActivityPanel";
import { DurationEditor } from "./editors/simple";
import "./inspector.css";
import { PreviewProvider } from "./ExpressionPreview";
import { LabelledEditor } from "./OptionsSection";
import { Section } from "./Section";
import { StatePanel, TransitionPanel } from "./StatePanel";
import { WorkflowPanel } from "./WorkflowPanel";

const t = defineMessages("inspector", {
  label: "Inspector",
  many: "{n|item|items} selected",
  connection: "Connection",
  outcome: "Outcome",
  from: "From",
  to: "To",
  delay: "Delay",
  remove: "Remove",
  align: "Align",
  left: "Left",
  centre: "Centre",
  right: "Right",
  top: "Top",
  middle: "Middle",
  bottom: "Bottom",
  across: "Horizontally",
  down: "Vertically",
  distribute: "Distribute",
  duplicate: "Duplicate",
  wrap: "Wrap in a sequence",
  values: "Preview values from",
  defaults: "defaults",
  chooseInstance: "Preview values",
  noInstances: "No instances yet. Run the workflow once to preview expressions with its values.",
});

export function Inspector({ problems }: { problems: readonly Problem[] }) {
  const document = useEditor((snapshot) => snapshot.document);
  const [instance, setInstance] = useState<string | null>(null);
  const [isChoosing, setChoosing] = useState(false);
  return (
    <aside className="hf-inspector" aria-label={t("label")}>
      <PreviewProvider definition={document} instanceId={instance}>
        <SelectionPanel problems={problems} />
      </PreviewProvider>
      <footer className="hf-inspector-foot">
        <span className="faint small clip">{t("values")}</span>
        <button type="button" className="linkish small clip" onClick={() => setChoosing(true)}>
          {instance ?? t("defaults")}
        </button>
      </footer>
      {isChoosing ? (
        <InstanceChooser
          definitionId={document.id}
          onClose={() => setChoosing(false)}
          onPick={(id) => {
            setInstance(id);
            setChoosing(false);
          }}
        />
      ) : null}
    </aside>
  );
}

function SelectionPanel({ problems }: { problems: readonly Problem[] }) {
  const { document, selection, focus, catalogue } = useEditor((snapshot) => snapshot);
  if (selection.length > 1) return <MultiSelectionPanel />;
  const [id] = selection;
  if (id === undefined || id.startsWith("note:")) return <WorkflowPanel />;
  const level = levelOf(document, catalogue, focus);
  if (id.startsWith("edge:")) {
    const index = Number(id.slice(5));
    return level.kind === "states" ? (
      <TransitionPanel key={id} index={index} />
    ) : (
      <ConnectionPanel key={id} index={index} />
    );
  }
  if (id.startsWith(STATE)) return <StatePanel key={id} index={Number(id.slice(STATE.length))} />;
  const activity = findActivity(document, id);
  return activity === undefined ? (
    <WorkflowPanel />
  ) : (
    <ActivityPanel key={id} activity={activity} problems={problems} />
  );
}

function MultiSelectionPanel() {
  const session = useEditorSession();
  const selection = useEditor((snapshot) => snapshot.selection);
  const readOnly = useEditor((snapshot) => snapshot.readOnly);
  const run = (command: Parameters<typeof session.run>[0]) => () => {
    const verdict = session.run(command);
    if (!verdict.ok) toast.done(verdict.why);
  };
  return (
    <>
      <header className="hf-inspector-head">
        <h2>{t("many", { n: selection.length })}</h2>
      </header>
      {readOnly ? null : (
        <div className="hf-inspector-body">
          <Section id="arrange" title={t("align")}>
            <div className="hf-arrange">
              {(["left", "centre", "right", "top", "middle", "bottom"] as const).map((side) => (
                <Button key={side} small onClick={run(commands.align(side))}>
                  {t(side)}
                </Button>
              ))}
            </div>
            <div className="row">
              <span className="quiet small grow">{t("distribute")}</span>
              <Button small onClick={run(commands.distribute("x"))}>
                {t("across")}
              </Button>
              <Button small onClick={run(commands.distribute("y"))}>
                {t("down")}
              </Button>
            </div>
            <div className="row wrap">
              <Button small icon="copy" onClick={run(commands.duplicate())}>
                {t("duplicate")}
              </Button>
              <Button small onClick={run(commands.wrap("Sequence"))}>
                {t("wrap")}
              </Button>
              <Button small danger icon="trash" onClick={run(commands.removeSelection())}>
                {t("remove")}
              </Button>
            </div>
          </Section>
        </div>
      )}
    </>
  );
}

function ConnectionPanel({ index }: { index: number }) {
  const session = useEditorSession();
  const { document, focus, catalogue, readOnly } = useEditor((snapshot) => snapshot);
  const level = levelOf(document, catalogue, focus);
  const connection = level.connections[index];
  if (connection === undefined) return <WorkflowPanel />;
  const source = level.activities.find((activity) => activity.id === connection.from);
  const outcomes = source === undefined ? [] : outcomesOf(source, catalogue.get(source.type));
  const now = connection.outcome ?? "Done";
  const known = outcomes.includes(now) ? outcomes : [now, ...outcomes];
  return (
    <>
      <header className="hf-inspector-head">
        <h2 className="grow">{t("connection")}</h2>
      </header>
      <div className="hf-inspector-body">
        <div className="hf-section-body" style={{ paddingTop: 16 }}>
          <TextField label={t("from")} value={connection.from} readOnly />
          <SelectField
            label={t("outcome")}
            value={now}
            disabled={readOnly}
            options={known.map((name) => ({ value: name, label: name }))}
            onChange={(event) => session.run(commands.redirect(index, { outcome: event.target.value }))}
          />
          <TextField label={t("to")} value={connection.to} readOnly />
          <LabelledEditor
            label={t("delay")}
            render={(props) => <DurationEditor {...props} />}
            value={connection.delay}
            readOnly={readOnly}
            onChange={(value) => session.run(commands.setConnectionKey(index, "delay", value))}
          />
          {readOnly ? null : (
            <div>
              <Button small danger icon="trash" onClick={() => session.run(commands.disconnect(index))}>
                {t("remove")}
              </Button>
            </div>
          )}
        </div>
      </div>
    </>
  );
}

function InstanceChooser({
  definitionId,
  onPick,
  onClose,
}: {
  definitionId: string;
  onPick: (id: string | null) => void;
  onClose: () => void;
}) {
  const query = useQuery(instances.list({ definition_id: definitionId, limit: 20, sort: "-created" }));
  const items = query.data?.items ?? [];
  return (
    <Dialog title={t("chooseInstance")} onClose={onClose}>
      <div className="stack">
        <Button onClick={() => onPick(null)}>{t("defaults")}</Button>
        {items.map((item) => (
          <button
            key={item.id}
            type="button"
            className="button"
            style={{ justifyContent: "flex-start" }}
            onClick={() => onPick(item.id)}
          >
            <StatusBadge status={item.status} />
            <span className="grow clip mono small" style={{ textAlign: "left" }}>
              {item.name || item.id}
            </span>
            <Timestamp at={item.created} />
          </button>
        ))}
        {query.isSuccess && items.length === 0 ? <p className="faint">{t("noInstances")}</p> : null}
      </div>
    </Dialog>
  );
}

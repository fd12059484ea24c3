/** Inspector of the workflow itself, shown without a selection. */

import { useEffect, useRef } from "react";
import * as commands from "../editor/commands";
import type { Part } from "../editor/commands/definition";
import { useEditor, useEditorSession } from "../editor/useEditor";
import { defineMessages } from "../i18n/messages";
import type { Json } from "../model/json";
import { PluginMount } from "../plugins/PluginMount";
import { usePlugins } from "../plugins/registry";
import { Switch, TextArea, TextField, toast } from "../ui";
import { Declarations } from "./Declarations";
import { ListEditor } from "./editors/compound";
import { DurationEditor } from "./editors/simple";
import { Choice, LabelledEditor } from "./OptionsSection";
import { Section } from "./Section";

const t = defineMessages("workflow-panel", {
  title: "Workflow",
  properties: "Properties",
  name: "Name",
  description: "Description",
  labels: "Labels",
  folder: "Folder",
  variables: "Variables",
  inputs: "Inputs",
  outputs: "Outputs",
  outcomes: "Outcomes",
  settings: "Settings",
  activation: "Start of new instances",
  always: "Always",
  singleton: "Only if no instance is running",
  correlation: "Only if the correlation id is not in use",
  correlatedSingleton: "One instance per correlation id",
  incident: "When an activity fails",
  fault: "Fault the instance",
  goOn: "Continue other branches",
  commit: "Commit strategy",
  commitHint: "Name of a commit strategy. Leave empty for the engine default.",
  journal: "Journal",
  engineDefault: "Engine default",
  include: "Include values",
  exclude: "Exclude values",
  off: "No entries",
  usable: "Usable as an activity",
  category: "Category",
  autoUpdate: "Consumers use new versions automatically",
  timeout: "Timeout",
  transient: "In memory only, not persisted",
  mode: "Flowchart mode",
  counter: "Counter",
  token: "Token",
});

export function WorkflowPanel() {
  const session = useEditorSession();
  const { document, readOnly } = useEditor((snapshot) => snapshot);
  const panels = usePlugins((plugins) => plugins.panels);
  const options = document.options ?? {};
  const set = (key: string) => (value: Json | undefined) => void session.run(commands.setDefinitionOption(key, value));
  const declare = (part: Part) => (index: number, value: Parameters<typeof commands.declare>[2]) => {
    const verdict = session.run(commands.declare(part, index, value));
    if (!verdict.ok) toast.done(verdict.why);
  };
  const metadata = document.metadata ?? {};
  return (
    <>
      <header className="hf-inspector-head">
        <h2 className="grow">{t("title")}</h2>
        <span className="faint small mono clip">{document.id}</span>
      </header>
      <div className="hf-inspector-body">
        <Section id="properties" title={t("properties")}>
          <TextField
            label={t("name")}
            value={document.name ?? ""}
            readOnly={readOnly}
            onChange={(event) => session.run(commands.setField("name", event.target.value || undefined))}
          />
          <TextArea
            label={t("description")}
            value={document.description ?? ""}
            readOnly={readOnly}
            onChange={(event) => session.run(commands.setField("description", event.target.value || undefined))}
          />
          <Labels
            labels={document.labels ?? []}
            readOnly={readOnly}
            onChange={(labels) => session.run(commands.setField("labels", labels.length > 0 ? labels : undefined))}
          />
          <TextField
            label={t("folder")}
            value={typeof metadata.folder === "string" ? metadata.folder : ""}
            readOnly={readOnly}
            onChange={(event) => {
              const { folder: _folder, ...rest } = metadata;
              const next = event.target.value ? { ...rest, folder: event.target.value } : rest;
              session.run(commands.setField("metadata", Object.keys(next).length > 0 ? next : undefined));
            }}
          />
        </Section>
        <Section id="variables" title={t("variables")} count={document.variables?.length}>
          <Declarations
            kind="variables"
            items={document.variables ?? []}
            readOnly={readOnly}
            onChange={declare("variables")}
          />
        </Section>
        <Section id="inputs" title={t("inputs")} count={document.inputs?.length}>
          <Declarations kind="inputs" items={document.inputs ?? []} readOnly={readOnly} onChange={declare("inputs")} />
        </Section>
        <Section
          id="outputs"
          title={t("outputs")}
          count={document.outputs?.length}
          open={(document.outputs?.length ?? 0) > 0}
        >
          <Declarations
            kind="outputs"
            items={document.outputs ?? []}
            readOnly={readOnly}
            onChange={declare("outputs")}
          />
        </Section>
        <Section id="settings" title={t("settings")} open={false}>
          <Choice
            label={t("activation")}
            value={options.activation}
            readOnly={readOnly}
            onChange={set("activation")}
            options={[
              ["", t("always")],
              ["singleton", t("singleton")],
              ["correlation", t("correlation")],
              ["correlated_singleton", t("correlatedSingleton")],
            ]}
          />
          <Choice
            label={t("incident")}
            value={options.incident}
            readOnly={readOnly}
            onChange={set("incident")}
            options={[
              ["", t("fault")],
              ["continue_with_incidents", t("goOn")],
            ]}
          />
          <Choice
            label={t("journal")}
            value={options.journal}
            readOnly={readOnly}
            onChange={set("journal")}
            options={[
              ["", t("engineDefault")],
              ["include", t("include")],
              ["exclude", t("exclude")],
              ["off", t("off")],
            ]}
          />
          <TextField
            label={t("commit")}
            hint={t("commitHint")}
            value={String(options.commit ?? "")}
            readOnly={readOnly}
            onChange={(event) => set("commit")(event.target.value || undefined)}
          />
          <Choice
            label={t("mode")}
            value={options.flowchart_mode}
            readOnly={readOnly}
            onChange={set("flowchart_mode")}
            options={[
              ["", t("counter")],
              ["token", t("token")],
            ]}
          />
          <LabelledEditor
            label={t("timeout")}
            render={(props) => <DurationEditor {...props} />}
            value={options.timeout}
            readOnly={readOnly}
            onChange={set("timeout")}
          />
          <Switch
            label={t("usable")}
            checked={options.usable_as_activity === true}
            disabled={readOnly}
            onChange={(event) => set("usable_as_activity")(event.target.checked || undefined)}
          />
          {options.usable_as_activity === true ? (
            <>
              <TextField
                label={t("category")}
                value={String(options.activity_category ?? "")}
                readOnly={readOnly}
                onChange={(event) => set("activity_category")(event.target.value || undefined)}
              />
              <Switch
                label={t("autoUpdate")}
                checked={options.auto_update_consumers === true}
                disabled={readOnly}
                onChange={(event) => set("auto_update_consumers")(event.target.checked || undefined)}
              />
              <LabelledEditor
                label={t("outcomes")}
                render={(props) => <ListEditor {...props} schema={{ type: "array", items: { type: "string" } }} />}
                value={document.outcomes}
                readOnly={readOnly}
                onChange={(value) => session.run(commands.setField("outcomes", value))}
              />
            </>
          ) : null}
          <Switch
            label={t("transient")}
            checked={options.transient === true}
            disabled={readOnly}
            onChange={(event) => set("transient")(event.target.checked || undefined)}
          />
        </Section>
        {panels
          .filter((panel) => panel.on === "definition")
          .map((panel) => (
            <Section key={panel.id} id={`plugin ${panel.id}`} title={panel.title}>
              <PluginMount mount={panel} properties={{ kind: "definition", id: document.id, data: document }} />
            </Section>
          ))}
      </div>
    </>
  );
}

/** Comma-separated labels. The text is parsed when the field loses the focus. */
function Labels({
  labels,
  readOnly,
  onChange,
}: {
  labels: readonly string[];
  readOnly: boolean;
  onChange: (labels: string[]) => void;
}) {
  const box = useRef<HTMLInputElement>(null);
  const joined = labels.join(", ");
  useEffect(() => {
    if (box.current !== null && box.current !== window.document.activeElement) box.current.value = joined;
  }, [joined]);
  return (
    <div className="field">
      <label htmlFor="hf-labels">{t("labels")}</label>
      <input
        id="hf-labels"
        ref={box}
        className="input"
        defaultValue={joined}
        readOnly={readOnly}
        onBlur={(event) => {
          const next = event.target.value
            .split(",")
            .map((label) => label.trim())
            .filter(Boolean);
          if (next.join() !== labels.join()) onChange(next);
        }}
      />
    </div>
  );
}

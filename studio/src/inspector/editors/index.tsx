/** Editors by hint. Editors of plugins take precedence. An unknown hint falls back to the JSON Schema. */

import type { Json } from "../../model/json";
import { PluginMount } from "../../plugins/PluginMount";
import { type EditorProperties, type Mount, usePlugins } from "../../plugins/registry";
import { type EditorProps, hintOfSchema, type ValueEditor } from "../editorHints";
import {
  AnyEditor,
  CodeValueEditor,
  JsonEditor,
  ListEditor,
  MapEditor,
  StatusCodeEditor,
  StatusCodesEditor,
} from "./compound";
import { CronEditor, OutputNameEditor, VariableEditor, WorkflowEditor } from "./pickers";
import { SchemaEditor } from "./SchemaEditor";
import {
  ChoicesEditor,
  DateEditor,
  DateTimeEditor,
  DurationEditor,
  MultilineEditor,
  NumberEditor,
  OptionsEditor,
  SecretEditor,
  SwitchEditor,
  TextEditor,
} from "./simple";

const EDITORS: Readonly<Record<string, ValueEditor>> = {
  text: TextEditor,
  multiline: MultilineEditor,
  number: NumberEditor,
  switch: SwitchEditor,
  options: OptionsEditor,
  choices: ChoicesEditor,
  date: DateEditor,
  datetime: DateTimeEditor,
  duration: DurationEditor,
  cron: CronEditor,
  list: ListEditor,
  outcomes: ListEditor,
  map: MapEditor,
  json: JsonEditor,
  code: CodeValueEditor,
  secret: SecretEditor,
  variable: VariableEditor,
  output: OutputNameEditor,
  workflow: WorkflowEditor,
  "http-status": StatusCodesEditor,
  "http-status-one": StatusCodeEditor,
  schema: SchemaEditor,
  any: AnyEditor,
};

export function LiteralEditor({ hint, ...props }: EditorProps & { readonly hint: string }) {
  const plugin = usePlugins((plugins) => plugins.editors[hint]);
  if (plugin !== undefined) return <PluginEditor mount={plugin} {...props} />;
  const Editor = EDITORS[hint] ?? EDITORS[hintOfSchema(props.schema)] ?? SchemaEditor;
  return <Editor {...props} />;
}

function PluginEditor({
  mount,
  value,
  onChange,
  schema,
  readOnly,
  label,
}: EditorProps & { readonly mount: Mount<EditorProperties> }) {
  return (
    <PluginMount
      mount={mount}
      properties={{
        value,
        onChange: (next) => onChange(next as Json | undefined),
        schema: { ...schema },
        readOnly,
        label,
      }}
    />
  );
}

/** Inspector of one activity. */

import { useMemo, useState } from "react";
import { useCan, useSession } from "../api/session";
import { ActivityIcon } from "../catalogue/ActivityIcon";
import * as commands from "../editor/commands";
import { useEditor, useEditorSession } from "../editor/useEditor";
import { defineMessages } from "../i18n/messages";
import type { Activity } from "../model/document";
import { titleOf } from "../model/document";
import { chipsOf } from "../model/focus";
import { commentsOf } from "../model/graph";
import type { JsonObject } from "../model/json";
import { isAbout } from "../model/problems";
import { namesFor, targetsFor } from "../model/scope";
import type { Problem } from "../model/validate";
import { Button, IconButton, TextField, Timestamp, toast } from "../ui";
import { CasesEditor } from "./CasesEditor";
import { Declarations } from "./Declarations";
import { isInputVisible } from "./editorHints";
import { NameSelect } from "./editors/pickers";
import { InputEditor } from "./InputEditor";
import { OptionsSection } from "./OptionsSection";
import { PortLinks } from "./PortLinks";
import { Section } from "./Section";
import { TestActivity } from "./TestActivity";
import { isWorkflowInput, WorkflowInputEditor } from "./WorkflowInputEditor";
import { UsedWorkflow } from "./WorkflowLinks";

const t = defineMessages("activity-panel", {
  name: "Name",
  inputs: "Inputs",
  outputs: "Outputs",
  cases: "Cases",
  variables: "Variables",
  about: "About",
  comments: "Comments",
  comment: "Write a comment",
  send: "Comment",
  remove: "Remove the comment",
  id: "Id",
  idHint: "Expressions and instances refer to the activity by this id.",
  description: "Description",
  bind: "Store {output} in",
  unknown:
    "The server does not know this activity type. Install the plugin that provides it, or remove the activity. Its content is kept unchanged.",
  test: "Test activity",
});

export function ActivityPanel({ activity, problems }: { activity: Activity; problems: readonly Problem[] }) {
  const session = useEditorSession();
  const { document, catalogue, readOnly } = useEditor((snapshot) => snapshot);
  const can = useCan();
  const descriptor = catalogue.get(activity.type);
  const names = useMemo(
    () => [
      ...namesFor(document, catalogue, activity.id),
      ...targetsFor(document, catalogue, activity.id).filter((name) => name.kind === "output"),
    ],
    [document, catalogue, activity.id],
  );
  const own = problems.filter((problem) => problem.activityId === activity.id);
  const inputs = (descriptor?.inputs ?? []).filter((input) =>
    isInputVisible(input, activity.inputs ?? {}, descriptor?.inputs ?? []),
  );
  const groups = byCategory(inputs);
  return (
    <>
      <header className="hf-inspector-head">
        <span className="hf-icon">
          <ActivityIcon name={descriptor?.icon ?? "box"} />
        </span>
        <div className="grow stack" style={{ gap: 0 }}>
          <input
            key={activity.id}
            className="name"
            aria-label={t("name")}
            value={activity.name ?? ""}
            placeholder={titleOf(activity, descriptor?.display_name)}
            readOnly={readOnly}
            onChange={(event) => session.run(commands.renameActivity(activity.id, event.target.value))}
          />
          <span className="faint small clip" title={descriptor?.description ?? undefined}>
            {descriptor?.display_name ?? activity.type} · <span className="mono">{activity.id}</span>
          </span>
        </div>
      </header>
      <div className="hf-inspector-body" key={activity.id}>
        {descriptor?.kind === "pure" && descriptor.ports.length === 0 ? <UsedWorkflow type={activity.type} /> : null}
        {descriptor === undefined && !catalogue.isEmpty ? (
          <p className="banner bad small" style={{ margin: 12 }}>
            {t("unknown")}
          </p>
        ) : null}
        {groups.map(([category, items]) => (
          <Section key={category} id={`inputs ${category}`} title={category || t("inputs")}>
            {items.map((input) => {
              const Editor = isWorkflowInput(activity.type, input.name) ? WorkflowInputEditor : InputEditor;
              return (
                <Editor
                  key={input.name}
                  type={activity.type}
                  input={input}
                  value={activity.inputs?.[input.name]}
                  names={names}
                  readOnly={readOnly}
                  problems={own.filter((problem) => isAbout(problem, "inputs", input.name))}
                  onChange={(value) => session.run(commands.setInput(activity.id, input.name, value))}
                  workflow={activity.inputs?.workflow}
                />
              );
            })}
          </Section>
        ))}
        <PortLinks chips={chipsOf(activity, catalogue)} />
        {hasCases(activity.type) ? (
          <Section id="cases" title={t("cases")}>
            <CasesEditor
              activity={activity}
              names={names}
              readOnly={readOnly}
              onChange={(port, value) => session.run(commands.setPort(activity.id, port, value))}
            />
          </Section>
        ) : null}
        {(descriptor?.outputs.length ?? 0) > 0 ? (
          <Section id="outputs" title={t("outputs")} open={Object.keys(activity.outputs ?? {}).length > 0}>
            {descriptor?.outputs.map((output) => (
              <div className="hf-input" key={output.name} data-output={output.name}>
                <label className="field-label" htmlFor={`out-${output.name}`}>
                  {t("bind", { output: output.display_name ?? output.name })}
                </label>
                <NameSelect
                  id={`out-${output.name}`}
                  value={activity.outputs?.[output.name] ?? undefined}
                  readOnly={readOnly}
                  invalid={own.some((problem) => isAbout(problem, "outputs", output.name))}
                  options={targetsFor(document, catalogue, activity.id).map((name) => name.name)}
                  onChange={(value) =>
                    session.run(commands.setOutput(activity.id, output.name, typeof value === "string" ? value : null))
                  }
                />
              </div>
            ))}
          </Section>
        ) : null}
        {descriptor?.container ? (
          <Section id="own-variables" title={t("variables")} count={activity.variables?.length} open={false}>
            <Declarations
              kind="variables"
              items={activity.variables ?? []}
              readOnly={readOnly}
              onChange={(index, value) =>
                session.run(commands.setVariables(activity.id, declared(activity.variables ?? [], index, value)))
              }
            />
          </Section>
        ) : null}
        <OptionsSection
          activity={activity}
          descriptor={descriptor}
          readOnly={readOnly}
          onChange={(name, value) => session.run(commands.setOption(activity.id, name, value))}
        />
        {descriptor !== undefined &&
        descriptor.ports.length === 0 &&
        can("definitions:write") &&
        can("definitions:execute") ? (
          <Section id="test" title={t("test")} open={false}>
            <TestActivity activity={activity} />
          </Section>
        ) : null}
        <About activity={activity} />
        <Comments activity={activity} />
      </div>
    </>
  );
}

function hasCases(type: string): boolean {
  return type === "FlowSwitch" || type === "Switch" || type === "Try";
}

export function declared(items: readonly JsonObject[], index: number, value: JsonObject | null): JsonObject[] {
  return value === null ? items.toSpliced(index, 1) : items.toSpliced(index, index < items.length ? 1 : 0, value);
}

function byCategory<T extends { readonly category?: string | null }>(items: readonly T[]): [string, T[]][] {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(item.category ?? "", [...(groups.get(item.category ?? "") ?? []), item]);
  return [...groups];
}

function About({ activity }: { activity: Activity }) {
  const session = useEditorSession();
  const readOnly = useEditor((snapshot) => snapshot.readOnly);
  const [id, setId] = useState(activity.id);
  const description = activity.metadata?.description;
  return (
    <Section id="about" title={t("about")} open={false}>
      <TextField
        label={t("id")}
        hint={t("idHint")}
        className="input mono"
        value={id}
        readOnly={readOnly}
        onChange={(event) => setId(event.target.value)}
        onBlur={() => {
          const verdict = session.run(commands.changeId(activity.id, id));
          if (!verdict.ok) {
            toast.done(verdict.why);
            setId(activity.id);
          }
        }}
      />
      <div className="field">
        <label htmlFor="hf-description">{t("description")}</label>
        <textarea
          id="hf-description"
          className="area"
          readOnly={readOnly}
          value={typeof description === "string" ? description : ""}
          onChange={(event) =>
            session.run(commands.setMetadata(activity.id, "description", event.target.value || undefined))
          }
        />
      </div>
    </Section>
  );
}

function Comments({ activity }: { activity: Activity }) {
  const session = useEditorSession();
  const readOnly = useEditor((snapshot) => snapshot.readOnly);
  const me = useSession((state) => state.me);
  const [text, setText] = useState("");
  const comments = commentsOf(activity);
  return (
    <Section id="comments" title={t("comments")} count={comments.length} open={comments.length > 0}>
      {comments.map((comment, index) => (
        <div key={`${comment.at} ${comment.by} ${comment.text}`} className="hf-comment">
          <div className="row small faint">
            <span className="grow clip">{comment.by || "–"}</span>
            <Timestamp at={comment.at || null} />
            {readOnly ? null : (
              <IconButton
                small
                icon="close"
                label={t("remove")}
                onClick={() => session.run(commands.removeComment(activity.id, index))}
              />
            )}
          </div>
          <div style={{ whiteSpace: "pre-wrap" }}>{comment.text}</div>
        </div>
      ))}
      {readOnly ? null : (
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim() === "") return;
            session.run(
              commands.addComment(activity.id, {
                by: me?.name ?? me?.id ?? "",
                at: new Date().toISOString(),
                text: text.trim(),
              }),
            );
            setText("");
          }}
        >
          <textarea
            id="hf-comment-box"
            className="area"
            style={{ minHeight: 48 }}
            aria-label={t("comment")}
            placeholder={t("comment")}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          {text.trim() === "" ? null : (
            <div>
              <Button small type="submit">
                {t("send")}
              </Button>
            </div>
          )}
        </form>
      )}
    </Section>
  );
}

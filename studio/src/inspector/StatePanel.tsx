/** States and transitions of a state machine. */

import { useState } from "react";
import * as commands from "../editor/commands";
import { useEditor, useEditorSession } from "../editor/useEditor";
import { defineMessages } from "../i18n/messages";
import { hasType } from "../model/document";
import { entryTitle, levelOf } from "../model/focus";
import { Ids } from "../model/ids";
import { namesFor } from "../model/scope";
import { Button, SelectField, TextField, toast } from "../ui";
import { asText } from "./editors/compound";
import { InputEditor } from "./InputEditor";
import { WorkflowPanel } from "./WorkflowPanel";

const t = defineMessages("state-panel", {
  state: "State",
  name: "Name",
  initial: "Set as initial state",
  isInitial: "This is the initial state.",
  entry: "On entry",
  exit: "On exit",
  remove: "Remove",
  transition: "Transition",
  from: "From",
  to: "To",
  trigger: "Trigger",
  noTrigger: "Choose a trigger …",
  action: "Action",
  open: "Open",
  condition: "Condition",
});

const CONDITION = { name: "condition", type: "boolean", schema: { type: "boolean" }, display_name: t("condition") };

export function StatePanel({ index }: { index: number }) {
  const session = useEditorSession();
  const { document, focus, catalogue, readOnly } = useEditor((snapshot) => snapshot);
  const level = levelOf(document, catalogue, focus);
  const state = level.states[index];
  const [draft, setDraft] = useState<string | null>(null);
  if (state === undefined || level.container === null) return <WorkflowPanel />;
  const name = asText(state.name);
  const initial = asText(level.container.inputs?.initial) || entryTitle(level.states[0] ?? {}, 0);
  const container = level.container.id;
  return (
    <>
      <header className="hf-inspector-head">
        <h2>{t("state")}</h2>
      </header>
      <div className="hf-inspector-body">
        <div className="hf-section-body" style={{ paddingTop: 16 }}>
          <TextField
            label={t("name")}
            value={draft ?? name}
            readOnly={readOnly}
            onChange={(event) => setDraft(event.target.value)}
            onBlur={() => {
              if (draft === null || draft === name) return;
              const verdict = session.run(commands.renameState(index, draft));
              if (!verdict.ok) toast.done(verdict.why);
              setDraft(null);
            }}
          />
          {initial === name ? (
            <p className="faint small">{t("isInitial")}</p>
          ) : (
            <div>
              <Button small disabled={readOnly} onClick={() => session.run(commands.setInitial(index))}>
                {t("initial")}
              </Button>
            </div>
          )}
          {(["entry", "exit"] as const).map((key) => (
            <div key={key} className="row">
              <span className="grow quiet">{t(key)}</span>
              <span className="faint small">{hasType(state[key]) ? state[key].type : "–"}</span>
              <Button small onClick={() => session.open({ id: container, port: "states", index, key })}>
                {t("open")}
              </Button>
            </div>
          ))}
          {readOnly ? null : (
            <div>
              <Button small danger icon="trash" onClick={() => session.run(commands.removeSelection())}>
                {t("remove")}
              </Button>
            </div>
          )}
        </div>
      </div>
    </>
  );
}

export function TransitionPanel({ index }: { index: number }) {
  const session = useEditorSession();
  const { document, focus, catalogue, readOnly } = useEditor((snapshot) => snapshot);
  const level = levelOf(document, catalogue, focus);
  const transition = level.transitions[index];
  if (transition === undefined || level.container === null) return <WorkflowPanel />;
  const states = level.states.map((state, at) => ({
    value: asText(state.name ?? at),
    label: entryTitle(state, at),
  }));
  const triggers = catalogue.all.filter((item) => item.trigger || item.type === "Event" || item.type === "Delay");
  const trigger = hasType(transition.trigger) ? transition.trigger : null;
  const container = level.container.id;
  return (
    <>
      <header className="hf-inspector-head">
        <h2>{t("transition")}</h2>
      </header>
      <div className="hf-inspector-body">
        <div className="hf-section-body" style={{ paddingTop: 16 }}>
          <TextField
            label={t("name")}
            value={asText(transition.name)}
            readOnly={readOnly}
            onChange={(event) => session.run(commands.setTransition(index, "name", event.target.value))}
          />
          <div className="hf-two-columns">
            <SelectField
              label={t("from")}
              value={asText(transition.from)}
              options={states}
              disabled={readOnly}
              onChange={(event) => session.run(commands.setTransition(index, "from", event.target.value))}
            />
            <SelectField
              label={t("to")}
              value={asText(transition.to)}
              options={states}
              disabled={readOnly}
              onChange={(event) => session.run(commands.setTransition(index, "to", event.target.value))}
            />
          </div>
          <SelectField
            label={t("trigger")}
            value={trigger?.type ?? ""}
            disabled={readOnly}
            options={[
              { value: "", label: t("noTrigger") },
              ...triggers.map((item) => ({ value: item.type, label: item.display_name ?? item.type })),
            ]}
            onChange={(event) => {
              const type = event.target.value;
              session.run(
                commands.setTransition(index, "trigger", type ? { type, id: Ids.of(document).take(type) } : undefined),
              );
            }}
          />
          {trigger !== null ? (
            <div>
              <Button
                small
                onClick={() =>
                  session.open({ id: container, port: "transitions", index, key: "trigger" }, [trigger.id])
                }
              >
                {t("open")}
              </Button>
            </div>
          ) : null}
          <InputEditor
            type="StateMachine"
            input={CONDITION}
            value={transition.condition}
            names={namesFor(document, catalogue, container)}
            problems={[]}
            readOnly={readOnly}
            onChange={(value) => session.run(commands.setTransition(index, "condition", value))}
          />
          <div className="row">
            <span className="grow quiet">{t("action")}</span>
            <span className="faint small">{hasType(transition.action) ? transition.action.type : "–"}</span>
            <Button small onClick={() => session.open({ id: container, port: "transitions", index, key: "action" })}>
              {t("open")}
            </Button>
          </div>
        </div>
      </div>
    </>
  );
}

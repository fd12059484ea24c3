/** JSON source of the document. Invalid text stays in the editor. Apply is one undo step. */

import { useEffect, useState } from "react";
import { setSource } from "../editor/commands/definition";
import { useEditor, useEditorSession } from "../editor/useEditor";
import { defineMessages } from "../i18n/messages";
import { CodeEditor } from "../inspector/CodeEditor";
import { isObject, type Json } from "../model/json";
import { Button, toast } from "../ui";

const t = defineMessages("source", {
  label: "Source",
  apply: "Apply",
  revert: "Discard changes",
  bad: "Invalid JSON: {why}",
  notObject: "A definition must be a JSON object.",
});

export function SourceView() {
  const session = useEditorSession();
  const { document, readOnly } = useEditor((snapshot) => snapshot);
  const text = JSON.stringify(document, null, 2);
  const [draft, setDraft] = useState(text);
  const [base, setBase] = useState(text);
  useEffect(() => {
    if (base === text) return;
    setDraft((now) => (now === base ? text : now));
    setBase(text);
  }, [text, base]);
  const isChanged = draft !== text;
  const apply = (): void => {
    try {
      const next = JSON.parse(draft) as Json;
      if (!isObject(next)) throw new Error(t("notObject"));
      // The id identifies the document and cannot be edited here.
      const verdict = session.run(setSource({ ...next, id: document.id }));
      if (!verdict.ok) toast.done(verdict.why);
    } catch (error) {
      toast.failed(new Error(t("bad", { why: error instanceof Error ? error.message : String(error) })));
    }
  };
  return (
    <div className="hf-source">
      {isChanged && !readOnly ? (
        <div className="hf-source-bar">
          <span className="grow" />
          <Button small onClick={() => setDraft(text)}>
            {t("revert")}
          </Button>
          <Button small kind="primary" onClick={apply}>
            {t("apply")}
          </Button>
        </div>
      ) : null}
      <CodeEditor tall language="json" label={t("label")} value={draft} readOnly={readOnly} onChange={setDraft} />
    </div>
  );
}

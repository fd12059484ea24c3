/** Code editor for expressions and sources. A plain text area is used until CodeMirror is loaded. */

import { useEffect, useRef, useState } from "react";
import type { Name } from "../model/scope";
import type { Code } from "./codemirror";

interface CodeEditorProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly language: string;
  readonly label: string;
  readonly names?: readonly Name[];
  readonly readOnly?: boolean;
  readonly tall?: boolean;
  readonly invalid?: boolean;
  readonly placeholder?: string;
  /** Line to highlight, starting at 1. */
  readonly line?: number | null;
}

const NO_NAMES: readonly Name[] = [];

export function CodeEditor({
  value,
  onChange,
  language,
  label,
  names = NO_NAMES,
  readOnly = false,
  tall = false,
  invalid = false,
  placeholder = "",
  line = null,
}: CodeEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const code = useRef<Code | null>(null);
  const [isReady, setReady] = useState(false);
  const latest = useRef({ value, onChange, names });
  latest.current = { value, onChange, names };
  useEffect(() => {
    let isGone = false;
    setReady(false);
    void import("./codemirror").then(({ createCode }) => {
      const parent = place.current;
      if (isGone || parent === null) return;
      code.current = createCode({
        parent,
        value: latest.current.value,
        language,
        label,
        names: () => latest.current.names,
        onChange: (text) => latest.current.onChange(text),
        readOnly,
        tall,
        placeholder,
      });
      // Typing in the plain text area continues in the editor.
      if (parent.parentElement?.querySelector("textarea") === window.document.activeElement)
        requestAnimationFrame(() => code.current?.focus());
      setReady(true);
    });
    return () => {
      isGone = true;
      code.current?.destroy();
      code.current = null;
    };
  }, [language, label, readOnly, tall, placeholder]);
  useEffect(() => code.current?.set(value), [value]);
  useEffect(() => {
    if (isReady) code.current?.mark(line);
  }, [isReady, line]);
  return (
    <div className={`hf-code ${tall ? "tall" : ""}`} data-invalid={invalid || undefined}>
      <div ref={place} className="hf-code-place" hidden={!isReady} />
      {isReady ? null : (
        <textarea
          className="area mono"
          aria-label={label}
          rows={tall ? 20 : 1}
          readOnly={readOnly}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </div>
  );
}

/** CodeMirror setup. The module is loaded with the first code editor. */

import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { json } from "@codemirror/lang-json";
import { liquid } from "@codemirror/lang-liquid";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, type Extension, type Range, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Name } from "../model/scope";

export interface CodeOptions {
  readonly parent: HTMLElement;
  readonly value: string;
  readonly language: string;
  readonly label: string;
  readonly names: () => readonly Name[];
  readonly onChange: (value: string) => void;
  readonly readOnly: boolean;
  /** Several numbered lines, as for a source file. Otherwise the editor grows with its text. */
  readonly tall: boolean;
  readonly placeholder: string;
}

export interface Code {
  set(value: string): void;
  mark(line: number | null): void;
  focus(): void;
  destroy(): void;
}

const setMark = StateEffect.define<number | null>();

const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(decorations, transaction) {
    let next = decorations.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setMark)) continue;
      const line = effect.value;
      const ranges: Range<Decoration>[] =
        line === null || line < 1 || line > transaction.state.doc.lines
          ? []
          : [Decoration.line({ class: "cm-current" }).range(transaction.state.doc.line(line).from)];
      next = Decoration.set(ranges);
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

export function createCode(options: CodeOptions): Code {
  let isSetting = false;
  const view = new EditorView({
    parent: options.parent,
    state: EditorState.create({
      doc: options.value,
      extensions: [
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        indentUnit.of(options.language === "json" ? "  " : "    "),
        autocompletion({ override: [complete(options)], icons: false }),
        keymap.of([
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...defaultKeymap,
          ...historyKeymap,
          ...(options.tall ? [indentWithTab] : []),
        ]),
        languageOf(options.language),
        syntaxHighlighting(colours),
        EditorView.lineWrapping,
        EditorState.readOnly.of(options.readOnly),
        EditorView.editable.of(!options.readOnly),
        EditorView.contentAttributes.of({ "aria-label": options.label, spellcheck: "false" }),
        placeholder(options.placeholder),
        marked,
        options.tall ? lineNumbers() : [],
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !isSetting) options.onChange(update.state.doc.toString());
        }),
        theme,
      ],
    }),
  });
  // A scrollable read-only editor must be reachable by keyboard.
  if (options.tall) view.scrollDOM.tabIndex = 0;
  return {
    set(value) {
      if (value === view.state.doc.toString()) return;
      isSetting = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } });
      isSetting = false;
    },
    mark(line) {
      view.dispatch({ effects: setMark.of(line) });
      if (line !== null && line <= view.state.doc.lines)
        view.dispatch({ effects: EditorView.scrollIntoView(view.state.doc.line(line).from, { y: "center" }) });
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

function languageOf(language: string): Extension {
  if (language === "python" || language === "code") return python();
  if (language === "javascript") return javascript();
  if (language === "liquid") return liquid();
  return language === "json" || language === "object" ? json() : [];
}

const KIND = { variable: "variable", input: "input", output: "output", loop: "loop" } as const;

/** Completion: names in scope first, then common keywords. */
function complete({ names, language }: CodeOptions) {
  const more = KEYWORDS[language] ?? [];
  return (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/[\p{L}_$][\p{L}\p{N}_$]*/u);
    const from = word?.from ?? context.pos;
    const holder = /([\p{L}_$][\p{L}\p{N}_$]*)?\.$/u.exec(context.state.sliceDoc(Math.max(0, from - 40), from));
    const shown = holder === null ? names() : membersOf(holder[1] ?? "", language, names());
    if ((holder !== null && shown.length === 0) || (holder === null && word === null && !context.explicit)) return null;
    const own = shown.map((name) => ({
      label: name.name,
      apply: holder === null ? referenceIn(language, name) : name.name,
      detail: `${KIND[name.kind]} · ${name.type}`,
      boost: 10,
    }));
    const words = holder === null ? more.map((label) => ({ label, type: "keyword" })) : [];
    return { from, options: [...own, ...words], validFor: /^[\p{L}_$][\p{L}\p{N}_$]*$/u };
  };
}

/** Reference to a name: plain in Python, through an object or a function in other languages. */
export function referenceIn(language: string, name: Name): string {
  if (language === "javascript")
    return name.kind === "input" ? `getInput(${JSON.stringify(name.name)})` : `variables.${name.name}`;
  if (language === "liquid") return name.kind === "input" ? `Input.${name.name}` : `Variables.${name.name}`;
  return name.name;
}

/** Members offered after the dot of those objects. */
function membersOf(holder: string, language: string, names: readonly Name[]): readonly Name[] {
  const isInput = language === "liquid" && holder === "Input";
  const isVariables =
    (language === "liquid" && holder === "Variables") || (language === "javascript" && holder === "variables");
  return names.filter((name) => (name.kind === "input" ? isInput : isVariables));
}

const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  python: [
    "and",
    "or",
    "not",
    "in",
    "if",
    "else",
    "for",
    "None",
    "True",
    "False",
    "len",
    "str",
    "int",
    "float",
    "sum",
    "min",
    "max",
    "sorted",
    "round",
    "any",
    "all",
  ],
  javascript: [
    "variables",
    "getVariable",
    "setVariable",
    "getInput",
    "getOutputFrom",
    "true",
    "false",
    "null",
    "JSON",
    "Math",
    "Date",
    "const",
    "return",
  ],
  liquid: [
    "Variables",
    "Input",
    "if",
    "endif",
    "for",
    "endfor",
    "assign",
    "default",
    "date",
    "upcase",
    "downcase",
    "json",
  ],
};

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.bool, tags.null, tags.operatorKeyword], color: "var(--accent-text)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--ok)" },
  { tag: [tags.number], color: "var(--run)" },
  { tag: [tags.comment], color: "var(--text-3)", fontStyle: "italic" },
  { tag: [tags.propertyName, tags.attributeName], color: "var(--text)" },
  { tag: [tags.function(tags.variableName)], color: "var(--wait)" },
]);

const theme = EditorView.theme({
  "&": { fontSize: "12px", color: "var(--text)", backgroundColor: "transparent" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "18px" },
  ".cm-content": { padding: "6px 0", caretColor: "var(--accent)" },
  ".cm-line": { padding: "0 10px" },
  ".cm-cursor": { borderLeftColor: "var(--accent)" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": { backgroundColor: "var(--accent-soft) !important" },
  ".cm-gutters": { backgroundColor: "transparent", border: "0", color: "var(--text-3)" },
  ".cm-placeholder": { color: "var(--text-3)" },
  ".cm-current": { backgroundColor: "var(--wait-soft)" },
  ".cm-matchingBracket": { backgroundColor: "var(--surface-3) !important" },
  ".cm-tooltip": {
    border: "1px solid var(--line)",
    borderRadius: "8px",
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    boxShadow: "var(--shadow)",
    overflow: "hidden",
  },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "200px" },
  ".cm-tooltip-autocomplete > ul > li": { padding: "3px 8px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent-soft)", color: "var(--text)" },
  ".cm-completionDetail": { color: "var(--text-3)", fontStyle: "normal", marginLeft: "12px" },
});

import { createElement, Fragment, type ReactNode } from "react";

/** A sentence whose `{name}` placeholders are replaced by elements, in the word order of the translation. */
export function Interpolate({ sentence, parts }: { sentence: string; parts: Record<string, ReactNode> }) {
  const pieces = sentence.split(/\{(\w+)\}/).map((piece, index) => (index % 2 === 0 ? piece : parts[piece]));
  return createElement(Fragment, null, ...pieces);
}

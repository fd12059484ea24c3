import { Fragment, type ReactNode } from "react";

/** A sentence whose `{name}` are elements: links and times stand inside of it, wherever a language puts them. */
export function Interpolate({ sentence, parts }: { sentence: string; parts: Record<string, ReactNode> }) {
  return sentence
    .split(/\{(\w+)\}/)
    .map((piece, index) => <Fragment key={index}>{index % 2 === 0 ? piece : parts[piece]}</Fragment>);
}

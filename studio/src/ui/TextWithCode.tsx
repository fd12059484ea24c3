import { createElement, Fragment } from "react";
import { codeParts } from "./codeParts";

/** A text from the server, such as the description of a setting. Text in backticks is shown as code. */
export function TextWithCode({ text }: { text: string }) {
  const pieces = codeParts(text).map((part, index) => (index % 2 === 1 ? createElement("code", null, part) : part));
  return createElement(Fragment, null, ...pieces);
}
